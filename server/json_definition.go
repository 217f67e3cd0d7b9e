package server

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn/deffile"
)

// definitionField is where requests have a definition.
const definitionField = "definition"

// readDefined reads a request that has a definition. The definition is read like a file
// that is submitted: both doors accept the same, and report the same errors.
func readDefined(text []byte, m proto.Message) error {
	document, rest, err := cutField(text, definitionField)
	if err != nil {
		return err
	}
	wrong := input.All(readFields(rest, m))
	if document == nil {
		return input.Join(wrong)
	}
	f, err := deffile.Read(definitionField, document)
	if wrong = append(wrong, input.All(err)...); len(wrong) > 0 {
		return input.Join(wrong)
	}
	definition, err := apiwire.Definition(&f.Definition)
	switch m := m.(type) {
	case *bedrockv1.SubmitRequest:
		m.Definition = definition
	case *bedrockv1.BeginRequest:
		m.Definition = definition
	}
	return err
}

// readParts reads a request that adds parts to a transaction, as they are written in a file.
func readParts(text []byte, m *bedrockv1.EnlistRequest) error {
	if !json.Valid(text) {
		return readFields(text, m) // which says what is wrong
	}
	f, err := deffile.ReadParts(bodyField, text)
	if err != nil {
		return input.Join(input.All(err))
	}
	parts, err := apiwire.Joining(&f.Definition)
	if err == nil {
		m.Id, m.Branches, m.Deliver = parts.GetId(), parts.GetBranches(), parts.GetDeliver()
	}
	return err
}

// readFields reads a request as protobuf writes them; only durations may have other units than
// seconds, as they may in a definition.
func readFields(text []byte, m proto.Message) error {
	err := protojson.Unmarshal(text, m)
	if err == nil {
		return nil
	}
	if other := inSeconds(text, m.ProtoReflect().Descriptor()); other != nil {
		text, err = other, protojson.Unmarshal(other, m)
	}
	if err == nil {
		return nil
	}
	return explainRefusal(text, m.ProtoReflect().New(), err)
}

// cutField takes a field out of an object. The value is nil if the field is missing or
// null. Text that is no object is left for others to refuse.
func cutField(text []byte, name string) (value, rest []byte, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, text, nil //nolint:nilerr // it has a reader that says it better
	}
	rest = []byte{'{'}
	for decoder.More() {
		key, err := decoder.Token()
		var field json.RawMessage
		if err == nil {
			err = decoder.Decode(&field)
		}
		switch {
		case err != nil:
			return nil, text, nil //nolint:nilerr // the same
		case key != name:
			rest = appendField(rest, key, field)
		case value != nil:
			return nil, nil, input.Errorf(name, "is there twice")
		default:
			value = field
		}
	}
	if string(value) == "null" {
		value = nil
	}
	if _, err := decoder.Token(); err != nil {
		return nil, text, nil //nolint:nilerr // the same
	}
	return value, append(append(rest, '}'), text[decoder.InputOffset():]...), nil
}

func appendField(object []byte, key json.Token, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	name, _ := json.Marshal(key) // a text always can be
	return append(append(append(object, name...), ':'), value...)
}
