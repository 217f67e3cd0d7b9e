// Package printable makes texts of others fit to be shown: in a log, a terminal, a table.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is the beginning of a text in one printable line, of at most that many bytes. What
// follows is not looked at, however long it is.
func Line(text string, most int) string {
	var line strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		invalid := r == utf8.RuneError && size == 1
		text = text[size:]
		r = printable(r)
		if invalid || r == -1 || line.Len() == 0 && unicode.IsSpace(r) {
			continue
		}
		if line.Len()+utf8.RuneLen(r) > most {
			break
		}
		line.WriteRune(r)
	}
	return strings.TrimSpace(line.String())
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
