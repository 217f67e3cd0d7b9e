package modes

import (
	"errors"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// fieldWords are what users of a mode call fields of a definition.
func fieldWords(mode string) map[string]string {
	return map[string]map[string]string{
		saga.Name: {"branches": "steps", "do": "action", "undo": "compensate"},
		tcc.Name:  {"do": "try", "undo": "cancel"},
		msg.Name:  {"branches": "deliver", "confirm": "to"},
	}[mode]
}

// InWords is what users of a mode call a field of a definition: branches[0].do is
// steps[0].action in a saga.
func InWords(mode, field string) string { return renamed(field, fieldWords(mode)) }

// Field is what a definition calls it: the other way round.
func Field(mode, field string) string {
	back := make(map[string]string)
	for name, word := range fieldWords(mode) {
		back[word] = name
	}
	return renamed(field, back)
}

// renamed changes the first and the last name in the path of a field.
func renamed(field string, names map[string]string) string {
	first := len(field)
	if i := strings.IndexAny(field, "[."); i >= 0 {
		first = i
	}
	if name := names[field[:first]]; name != "" {
		field = name + field[first:]
	}
	last := strings.LastIndexByte(field, '.') + 1
	if name := names[field[last:]]; name != "" && last > 0 {
		field = field[:last] + name
	}
	return field
}

// Word names the operation of a phase as users of a mode do. Where the mode is not known, as
// while versions are mixed, it has the name of the phase.
func Word(mode string, p txn.Phase) string {
	if m := Get(mode); m != nil {
		return m.Op(p)
	}
	return string(p)
}

// ErrorInWords names the fields that are wrong as users of the mode do, and ErrorInFields as the
// definition does. A doubt stays a doubt.
func ErrorInWords(mode string, err error) error { return renamedIn(mode, err, InWords) }

// ErrorInFields is the other way round.
func ErrorInFields(mode string, err error) error { return renamedIn(mode, err, Field) }

func renamedIn(mode string, err error, rename func(mode, field string) string) error {
	_, inDoubt := errors.AsType[*txn.InDoubtError](err)
	wrong := input.All(err)
	if len(wrong) == 0 || inDoubt {
		return err
	}
	told := make([]*input.Error, len(wrong))
	for i, one := range wrong {
		told[i] = &input.Error{Field: rename(mode, one.Field), Problem: one.Problem}
	}
	return input.Join(told)
}
