package apiwire

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendString appends a text as JSON. What is not UTF-8 in it is replaced.
func appendString(text []byte, s string) []byte {
	text = append(text, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		text = appendEscaped(append(text, s[from:i]...), r)
		i += size
		from = i
	}
	return append(append(text, s[from:]...), '"')
}

func appendEscaped(text []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(text, '\\', byte(r))
	case '\n':
		return append(text, `\n`...)
	case '\r':
		return append(text, `\r`...)
	case '\t':
		return append(text, `\t`...)
	case utf8.RuneError:
		return utf8.AppendRune(text, r)
	default:
		return append(text, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
	}
}
