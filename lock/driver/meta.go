package driver

import (
	"encoding/json"
	"unicode/utf8"
)

// EncodeMeta writes metadata the way it is stored. For what is not UTF-8 there is no way, and JSON
// would have something else in its place: it is returned as it is, which [Request.Check] refuses.
func EncodeMeta(meta map[string]string) string {
	if len(meta) == 0 {
		return ""
	}
	for key, value := range meta {
		for _, text := range [...]string{key, value} {
			if !utf8.ValidString(text) {
				return text
			}
		}
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return "" // a map of strings always marshals
	}
	return string(text)
}

// DecodeMeta reads metadata back. What somebody else wrote in a way of his own is there as
// "meta".
func DecodeMeta(text string) map[string]string {
	if text == "" {
		return nil
	}
	var meta map[string]string
	if json.Unmarshal([]byte(text), &meta) != nil {
		return map[string]string{"meta": text}
	}
	return meta
}
