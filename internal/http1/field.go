package http1

import "strings"

// AppendField appends a header field. What would end it early cannot get in: a name
// that is none is left out with its value, and ends of lines turn into spaces.
func AppendField(b []byte, name, value string) []byte {
	if !token(name) {
		return b
	}
	b = append(b, name...)
	b = append(b, ": "...)
	value = strings.Trim(value, " \t\r\n")
	start := len(b)
	b = append(b, value...)
	for i := start; i < len(b); i++ {
		if b[i] == '\r' || b[i] == '\n' {
			b[i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// token reports whether a text may be the name of a field.
func token[T string | []byte](text T) bool {
	for i := range len(text) {
		if !tokenByte(text[i]) {
			return false
		}
	}
	return len(text) > 0
}

func tokenByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		return true
	default:
		return strings.IndexByte("!#$%&'*+.^_`|~", c) >= 0
	}
}
