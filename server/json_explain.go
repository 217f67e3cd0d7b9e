package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/fieldpath"
	"github.com/bedrock-go/bedrock/internal/nearest"
)

// explainRefusal says what is wrong with a request that protobuf's reader has refused: in that
// one's own errors are types of the protocol, and no places.
func explainRefusal(text []byte, m protoreflect.Message, refusal error) error {
	if !utf8.Valid(text) {
		return input.Errorf(bodyField, "is not UTF-8")
	}
	err := json.Unmarshal(text, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(text[:syntax.Offset], []byte("\n"))
		return input.Errorf(bodyField, "syntax error in line %d: %v", line, err)
	}
	var e explainer
	e.checkObject("", m, bytes.TrimSpace(text))
	if len(e.wrong) == 0 {
		e.add(bodyField, plainText(refusal))
	}
	return input.Join(e.wrong)
}

// plainText takes the library's name and its unusual spaces out of an error.
func plainText(err error) string {
	return strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")
}

// explainer finds mistakes in JSON that is well-formed.
type explainer struct{ wrong []*input.Error }

func (e *explainer) add(field, problem string) {
	e.wrong = append(e.wrong, &input.Error{Field: field, Problem: problem})
}

// checkObject looks for what is wrong with a message; what is not in one of its fields is wrong
// with all of it.
func (e *explainer) checkObject(at string, m protoreflect.Message, text []byte) {
	if text[0] != '{' {
		e.add(cmp.Or(at, bodyField), "want an object with fields")
		return
	}
	before := len(e.wrong)
	seen := make(map[protoreflect.FullName]bool)
	for _, one := range members(text) {
		if len(e.wrong) >= input.Most {
			return
		}
		e.checkMember(fieldpath.Inside(at, one.name), m, one, seen)
	}
	if err := protojson.Unmarshal(text, m.New().Interface()); err != nil && len(e.wrong) == before {
		e.add(cmp.Or(at, bodyField), plainText(err))
	}
}

// checkMember looks for what is wrong with a field, or that it is there; seen has those before it,
// and the choices that they are one of.
func (e *explainer) checkMember(at string, m protoreflect.Message, one member, seen map[protoreflect.FullName]bool) {
	field := fieldNamed(m.Descriptor(), one.name)
	if field == nil {
		e.add(at, nearest.UnknownField(fieldpath.Clip(one.name), fieldNames(m.Descriptor().Fields())))
		return
	}
	choice := field.ContainingOneof()
	switch {
	case seen[field.FullName()]:
		e.add(at, "is there twice")
	case choice != nil && seen[choice.FullName()]:
		e.add(at, "want "+strings.Join(fieldNames(choice.Fields()), ", or "))
	default:
		e.checkField(at, m, field, one.value)
	}
	seen[field.FullName()] = true
	if choice != nil {
		seen[choice.FullName()] = true
	}
}

// checkField looks for what is wrong with the value of a field.
func (e *explainer) checkField(at string, m protoreflect.Message, field protoreflect.FieldDescriptor, text []byte) {
	switch {
	case string(text) == "null":
	case field.IsList() && text[0] != '[':
		e.add(at, "want a list")
	case field.IsMap() && text[0] != '{':
		e.add(at, "want names with values")
	case field.IsList():
		for i, item := range entries(text) {
			e.checkValue(fieldpath.Item(at, i), m, field, item, fmt.Appendf(nil, "[%s]", item))
		}
	case field.IsMap():
		for _, one := range members(text) {
			e.checkValue(fmt.Sprintf("%s[%q]", at, fieldpath.Clip(one.name)), m, field, one.value,
				fmt.Appendf(nil, `{"": %s}`, one.value))
		}
	default:
		e.checkValue(at, m, field, text, text)
	}
}

// checkValue looks for what is wrong with one value; whole is a value of the field that has only
// this one.
func (e *explainer) checkValue(
	at string, m protoreflect.Message, field protoreflect.FieldDescriptor, text, whole []byte,
) {
	if len(e.wrong) >= input.Most {
		return
	}
	if inner := field.Message(); inner != nil && !field.IsMap() && inner.ParentFile().Package() == apiPackage {
		e.checkObject(at, newMessage(m, field), text)
		return
	}
	alone := fmt.Appendf(nil, "{%q: %s}", field.JSONName(), whole)
	if protojson.Unmarshal(alone, m.New().Interface()) == nil {
		return
	}
	if text[0] == '[' || text[0] == '{' {
		e.add(at, "want "+wanted(field))
		return
	}
	e.add(at, fieldpath.Clip(string(text))+": want "+wanted(field))
}

// apiPackage is where the protocol's own messages are.
const apiPackage = "bedrock.v1"

func newMessage(m protoreflect.Message, field protoreflect.FieldDescriptor) protoreflect.Message {
	if field.IsList() {
		return m.NewField(field).List().NewElement().Message()
	}
	return m.NewField(field).Message()
}

// wanted is what values of a field look like.
func wanted(field protoreflect.FieldDescriptor) string {
	if field.IsMap() {
		field = field.MapValue()
	}
	switch field.Kind() {
	case protoreflect.StringKind:
		return "text"
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.BytesKind:
		return "base64"
	case protoreflect.MessageKind:
		return wantedOfMessage(field.Message().Name())
	default:
		return "a whole number"
	}
}

func wantedOfMessage(name protoreflect.Name) string {
	switch name {
	case "Duration":
		return "a duration such as 30s or 1m30s"
	case "Timestamp":
		return "a time such as 2026-11-23T08:30:00Z"
	case "ListValue":
		return "a list"
	default:
		return "a value"
	}
}

// fieldNamed finds a field by its name, in either of the ways to write it.
func fieldNamed(m protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if field := m.Fields().ByJSONName(name); field != nil {
		return field
	}
	return m.Fields().ByTextName(name)
}

// fieldNames are what fields are called in JSON.
func fieldNames(fields protoreflect.FieldDescriptors) []string {
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = fields.Get(i).JSONName()
	}
	return names
}

// member is a name and a value in an object.
type member struct {
	name  string
	value json.RawMessage
}

// members lists what is in an object that is well-formed.
func members(object []byte) (all []member) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	_, err := decoder.Token()
	for err == nil && decoder.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = decoder.Token(); err == nil {
			err = decoder.Decode(&value)
		}
		all = append(all, member{fmt.Sprint(name), value})
	}
	return all
}

// entries lists what is in a list that is well-formed.
func entries(list []byte) (all []json.RawMessage) {
	if json.Unmarshal(list, &all) != nil {
		return nil
	}
	return all
}
