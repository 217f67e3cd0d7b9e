// Package printable makes texts of others fit to be shown: in a log, a terminal, a table.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is the beginning of a text in one printable line, of at most that many bytes.
func Line(text string, most int) string {
	text = text[:min(len(text), 4*most)] // enough, whatever is removed from it
	text = strings.Map(printable, strings.ToValidUTF8(text, ""))
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.TrimSpace(text[:cut])
}

// printable drops what could forge a line of a log or reverse the text after it.
func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
		return -1
	default:
		return r
	}
}
