package coord

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// asGiven names the branches that are wrong as the caller has counted them: topics are
// expanded before a definition is checked, and branches join others. For each branch,
// given is the one that it was made of; notGiven if it was there before. What is wrong with
// all subscribers of a topic is told once.
func asGiven(err error, given []int) error {
	wrong := input.All(err)
	if len(wrong) == 0 {
		return err
	}
	for _, one := range wrong {
		one.Field = givenField(one.Field, given)
	}
	told := input.Join(slices.CompactFunc(wrong, func(a, b *txn.InvalidError) bool { return *a == *b }))
	if _, ok := errors.AsType[*targetError](err); ok {
		return &targetError{told}
	}
	return told
}

// notGiven stands for a branch that the caller has not given.
const notGiven = -1

func givenField(field string, given []int) string {
	rest, ok := strings.CutPrefix(field, "branches[")
	number, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || i >= len(given):
		return field
	case given[i] == notGiven:
		return "transaction"
	}
	return fmt.Sprintf("branches[%d]%s", given[i], rest)
}
