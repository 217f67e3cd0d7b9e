package record

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
)

func appendList[T any](b []byte, items []T, appendOne func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOne(b, &items[i])
	}
	return append(b, ']')
}

func appendCount(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

func appendBytes(b, data []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

// appendText quotes a text. Only what is beyond printable ASCII needs more than a backslash.
func appendText(b []byte, s string) []byte {
	start, from := len(b), 0
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f:
			quoted, _ := json.Marshal(s) // a string can always be encoded
			return append(b[:start], quoted...)
		case c == '"' || c == '\\':
			b = append(append(b, s[from:i]...), '\\')
			from = i
		}
	}
	return append(append(b, s[from:]...), '"')
}
