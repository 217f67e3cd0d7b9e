package server

import (
	"bytes"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// inSeconds writes the durations of a request, as definitions have them, in the one way that
// protobuf reads: 1m30s as 90s. It is nil if that changes nothing, or the text is no JSON.
func inSeconds(text []byte, m protoreflect.MessageDescriptor) []byte {
	if !json.Valid(text) {
		return nil
	}
	return objectInSeconds(bytes.TrimSpace(text), m)
}

func objectInSeconds(text []byte, m protoreflect.MessageDescriptor) []byte {
	if text[0] != '{' {
		return nil
	}
	written, changed := []byte{'{'}, false
	for _, one := range members(text) {
		if value := valueInSeconds(one.value, fieldNamed(m, one.name)); value != nil {
			one.value, changed = value, true
		}
		written = appendField(written, one.name, one.value)
	}
	if !changed {
		return nil
	}
	return append(written, '}')
}

func valueInSeconds(text []byte, field protoreflect.FieldDescriptor) []byte {
	switch {
	case field == nil || field.Message() == nil || field.IsMap():
		return nil
	case field.IsList():
		return listInSeconds(text, field.Message())
	default:
		return messageInSeconds(text, field.Message())
	}
}

func listInSeconds(text []byte, m protoreflect.MessageDescriptor) []byte {
	items, changed := entries(text), false
	for i, item := range items {
		if value := messageInSeconds(item, m); value != nil {
			items[i], changed = value, true
		}
	}
	if !changed {
		return nil
	}
	written, _ := json.Marshal(items) // they have just been read
	return written
}

func messageInSeconds(text []byte, m protoreflect.MessageDescriptor) []byte {
	switch {
	case m.Name() == "Duration":
		return seconds(text)
	case m.ParentFile().Package() == apiPackage:
		return objectInSeconds(text, m)
	default:
		return nil
	}
}

// seconds is a duration in seconds; nil if the value is none.
func seconds(value []byte) []byte {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil
	}
	written, err := protojson.Marshal(durationpb.New(d))
	if err != nil {
		return nil
	}
	return written
}
