// Package words tells what is wrong in a definition in the words of its mode: a saga has
// steps with actions, where the definition has branches with something to do.
package words

import (
	"errors"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// Rename changes the first and the last name in the path of a field: branches[0].do is
// steps[0].action.
func Rename(field string, names map[string]string) string {
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

// Error renames the fields that are wrong. Other errors are as they were, and a doubt stays a
// doubt.
func Error(err error, names map[string]string) error {
	_, inDoubt := errors.AsType[*txn.InDoubtError](err)
	wrong := input.All(err)
	if len(wrong) == 0 || len(names) == 0 || inDoubt {
		return err
	}
	told := make([]*input.Error, len(wrong))
	for i, one := range wrong {
		told[i] = &input.Error{Field: Rename(one.Field, names), Problem: one.Problem}
	}
	return input.Join(told)
}
