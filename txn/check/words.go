package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Statuses refuses statuses, as a query has them, that no transaction can have: who misspells
// one would take an empty page for an answer.
func Statuses(asked []txn.Status) error {
	for i, s := range asked {
		if err := oneOf(fmt.Sprintf("status[%d]", i), s, driver.Statuses()); err != nil {
			return err
		}
	}
	return nil
}

// Action refuses an intervention that there is none of.
func Action(a txn.Action) error { return oneOf("action", a, txn.Actions()) }

// Reason asks for what an intervention leaves behind, of programs as of people. It is kept as one
// printable line: one of which nothing would be left is refused, and one that would be cut off.
func Reason(reason string) error {
	switch {
	case !utf8.ValidString(reason):
		return input.Errorf("reason", "is not UTF-8")
	case len(reason) > txn.MaxReason:
		return input.Errorf("reason", "%d bytes: at most %d", len(reason), txn.MaxReason)
	case printable.Line(reason, txn.MaxReason) == "":
		return input.Errorf("reason", "is empty: say why, it is kept")
	}
	return nil
}

// oneOf refuses a word that is not in a list, and says which one may be meant.
func oneOf[Word ~string](field string, word Word, list []Word) error {
	if slices.Contains(list, word) {
		return nil
	}
	want := make([]string, len(list))
	for i, w := range list {
		want[i] = string(w)
	}
	given := clip(string(word))
	return input.Errorf(field, "%q is not known%s; want one of %s",
		given, nearest.Hint(given, want), strings.Join(want, ", "))
}
