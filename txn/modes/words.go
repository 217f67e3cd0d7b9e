package modes

import (
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/words"
)

// InWords is what users of a mode call a field of a definition: branches[0].do is
// steps[0].action in a saga.
func InWords(mode, field string) string { return words.Rename(field, fieldsOf(mode)) }

// Field is what a definition calls it: the other way round.
func Field(mode, field string) string { return words.Rename(field, wordsOf(mode)) }

// ErrorInWords names the fields that are wrong as users of the mode do, and ErrorInFields as the
// definition does. A doubt stays a doubt.
func ErrorInWords(mode string, err error) error { return words.Error(err, fieldsOf(mode)) }

// ErrorInFields is the other way round.
func ErrorInFields(mode string, err error) error { return words.Error(err, wordsOf(mode)) }

// Word names the operation of a phase as users of a mode do. Where the mode is not known, as
// while versions are mixed, it has the name of the phase.
func Word(mode string, p txn.Phase) string {
	if m := Get(mode); m != nil {
		return m.Op(p)
	}
	return string(p)
}

// Parts is what users of a mode call the branches.
func Parts(mode string) string { return InWords(mode, "branches") }

// fieldsOf is what users of a mode call fields of a definition.
func fieldsOf(mode string) map[string]string {
	if m := Get(mode); m != nil {
		return m.Fields()
	}
	return nil
}

// wordsOf is the other way round.
func wordsOf(mode string) map[string]string {
	fields := fieldsOf(mode)
	back := make(map[string]string, len(fields))
	for name, word := range fields {
		back[word] = name
	}
	return back
}
