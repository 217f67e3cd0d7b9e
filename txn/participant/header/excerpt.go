package header

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxExcerpt bounds what is kept of a reply or an error, in bytes.
const MaxExcerpt = 256

// Excerpt is the beginning of a text in one printable line.
func Excerpt(text string) string {
	const surplus = 4 * MaxExcerpt // enough, whatever is removed from it
	text = text[:min(len(text), surplus)]
	text = strings.Map(printable, strings.ToValidUTF8(text, ""))
	text = strings.TrimSpace(text)
	if len(text) <= MaxExcerpt {
		return text
	}
	cut := MaxExcerpt
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
