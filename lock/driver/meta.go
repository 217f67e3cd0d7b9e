package driver

import "encoding/json"

// EncodeMeta writes metadata the way it is stored.
func EncodeMeta(meta map[string]string) string {
	if len(meta) == 0 {
		return ""
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
