package apiwire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// AppendJSON appends a message as it is shown wherever JSON is: in answers of the API, by the
// commands, in the archive. It is what protobuf writes, without spaces, but for payloads and
// results: where their bytes are JSON, they are there as they are.
func AppendJSON(text []byte, m proto.Message) []byte {
	if known, ok := appendKnown(text, m); ok {
		return known
	}
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	text = append(text, '{')
	first := len(text)
	for i := range fields.Len() {
		field := fields.Get(i)
		if !r.Has(field) {
			continue
		}
		if shown := shownAs(field); shown != nil {
			text = appendBody(text, first, field, shown, r.Get(field))
			continue
		}
		text = appendName(text, first, field.JSONName())
		text = appendField(text, field, r.Get(field))
	}
	return append(text, '}')
}

// appendName begins a field of an object whose fields begin at first.
func appendName(text []byte, first int, name string) []byte {
	if len(text) > first {
		text = append(text, ',')
	}
	return append(appendString(text, name), ':')
}

func appendField(text []byte, field protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch {
	case field.IsMap():
		return appendMap(text, field.MapValue(), v.Map())
	case field.IsList():
		text = append(text, '[')
		for i := range v.List().Len() {
			if i > 0 {
				text = append(text, ',')
			}
			text = appendOne(text, field, v.List().Get(i))
		}
		return append(text, ']')
	default:
		return appendOne(text, field, v)
	}
}

func appendMap(text []byte, field protoreflect.FieldDescriptor, values protoreflect.Map) []byte {
	text = append(text, '{')
	first := len(text)
	for _, name := range sortedNames(values) {
		text = appendName(text, first, name)
		text = appendOne(text, field, values.Get(protoreflect.ValueOfString(name).MapKey()))
	}
	return append(text, '}')
}

func sortedNames(values protoreflect.Map) []string {
	names := make([]string, 0, values.Len())
	values.Range(func(name protoreflect.MapKey, _ protoreflect.Value) bool {
		names = append(names, name.String())
		return true
	})
	slices.Sort(names)
	return names
}

// appendOne appends a value that is no list. Numbers that others might round are texts.
func appendOne(text []byte, field protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return AppendJSON(text, v.Message().Interface())
	case protoreflect.StringKind:
		return appendString(text, v.String())
	case protoreflect.BytesKind:
		return appendBytes(text, v.Bytes())
	case protoreflect.BoolKind:
		return strconv.AppendBool(text, v.Bool())
	case protoreflect.Uint32Kind:
		return strconv.AppendUint(text, v.Uint(), 10)
	case protoreflect.Uint64Kind:
		return append(strconv.AppendUint(append(text, '"'), v.Uint(), 10), '"')
	case protoreflect.Int64Kind:
		return append(strconv.AppendInt(append(text, '"'), v.Int(), 10), '"')
	default: // the API has no numbers but these
		return strconv.AppendInt(text, v.Int(), 10)
	}
}

func appendBytes(text, content []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(text, '"'), content), '"')
}

// shownAs is the field as which one of bytes is shown if they are JSON; nil if it has none.
func shownAs(field protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	name, ok := strings.CutSuffix(string(field.Name()), "_bytes")
	if !ok {
		return nil
	}
	return field.ContainingMessage().Fields().ByName(protoreflect.Name(name))
}

// appendBody appends bytes, or a map of bytes, as shown where they are JSON.
func appendBody(text []byte, first int, field, shown protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	if field.IsMap() {
		return appendBodies(text, first, field, shown, v.Map())
	}
	before := len(text)
	text = appendName(text, first, shown.JSONName())
	if asJSON, ok := appendReadable(text, v.Bytes()); ok {
		return asJSON
	}
	return appendBytes(appendName(text[:before], first, field.JSONName()), v.Bytes())
}

func appendBodies(text []byte, first int, field, shown protoreflect.FieldDescriptor, values protoreflect.Map) []byte {
	asJSON, asBytes := []byte{'{'}, []byte{'{'}
	for _, name := range sortedNames(values) {
		content := values.Get(protoreflect.ValueOfString(name).MapKey()).Bytes()
		if with, ok := appendReadable(appendName(asJSON, 1, name), content); ok {
			asJSON = with
			continue
		}
		asBytes = appendBytes(appendName(asBytes, 1, name), content)
	}
	if len(asJSON) > 1 {
		text = append(append(appendName(text, first, shown.JSONName()), asJSON...), '}')
	}
	if len(asBytes) > 1 {
		text = append(append(appendName(text, first, field.JSONName()), asBytes...), '}')
	}
	return text
}

// appendKnown appends a message that has a form of its own in JSON.
func appendKnown(text []byte, m proto.Message) ([]byte, bool) {
	switch m := m.(type) {
	case *timestamppb.Timestamp:
		text = m.AsTime().AppendFormat(append(text, '"'), "2006-01-02T15:04:05.000000000")
		return append(trimNanos(text), 'Z', '"'), true
	case *durationpb.Duration:
		return appendDuration(append(text, '"'), m.AsDuration()), true
	case *structpb.ListValue, *structpb.Struct, *structpb.Value:
		return appendValue(text, m), true
	default:
		return text, false
	}
}

func appendDuration(text []byte, d time.Duration) []byte {
	if d < 0 {
		text = append(text, '-')
	}
	seconds, nanos := uint64(max(d, -d)/time.Second), uint64(max(d%time.Second, -d%time.Second))
	text = append(strconv.AppendUint(text, seconds, 10), '.')
	text = append(text, strconv.FormatUint(uint64(time.Second)+nanos, 10)[1:]...)
	return append(trimNanos(text), 's', '"')
}

// trimNanos leaves as many groups of three decimals as are needed.
func trimNanos(text []byte) []byte {
	for range 3 {
		text = bytes.TrimSuffix(text, []byte("000"))
	}
	return bytes.TrimSuffix(text, []byte("."))
}

func appendValue(text []byte, m proto.Message) []byte {
	value, err := protojson.Marshal(m)
	if err != nil {
		return append(text, "null"...) // a number that JSON does not have
	}
	b := bytes.NewBuffer(text)
	_ = json.Compact(b, value) // it is JSON
	return b.Bytes()
}
