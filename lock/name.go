package lock

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxName is the longest a lock's name may be, in bytes.
const MaxName = 512

// checkName accepts what every backend can keep apart: any text without control
// characters.
func checkName(name string) error {
	if problem := nameProblem(name); problem != "" {
		return &InvalidError{Field: "name", Problem: problem}
	}
	return nil
}

func nameProblem(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxName:
		return fmt.Sprintf("is %d bytes long, the limit is %d", len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Sprintf("%q is not valid UTF-8", name)
	}
	for i, r := range name {
		if unicode.IsControl(r) {
			return fmt.Sprintf("has the control character %q at byte %d", r, i)
		}
	}
	return ""
}
