// Package fieldpath writes where a field is in something that was given, such as
// steps[1].policy.then.
package fieldpath

import (
	"strconv"
	"strings"
)

// Inside is where a field is that is in something else; at is empty for what is in nothing.
// Whatever the field is called, the path is short and in one line.
func Inside(at, name string) string {
	switch {
	case name == "" || strings.ContainsFunc(name, odd) || len(name) > longest:
		return at + "[" + strconv.Quote(Clip(name)) + "]"
	case at == "":
		return name
	default:
		return at + "." + name
	}
}

// Item is where an entry of a list is.
func Item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// longest is how much of a text is repeated, in bytes.
const longest = 60

// Clip shortens what somebody has written to what goes into an error.
func Clip(text string) string {
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// odd reports whether a letter is one that names of fields do not have.
func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}
