package apiwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
)

// encoded writes a value as JSON, always the same way: submitting the same content
// again must be recognised.
func encoded(v *structpb.Value) ([]byte, error) {
	text, err := json.Marshal(v.AsInterface())
	if err != nil {
		return nil, fmt.Errorf("not a JSON value: %w", err)
	}
	return text, nil
}

// appendReadable appends JSON as it is, but for the spaces, if every reader takes it: one payload
// that some refuse would make them refuse all that it is shown in. Numbers keep their digits,
// which some readers round.
func appendReadable(text, content []byte) (_ []byte, ok bool) {
	if !json.Valid(content) || !utf8.Valid(content) {
		return text, false
	}
	r := reader{content: content, names: make([][]byte, 0, 16), begins: make([]int, 0, 16)}
	text = slices.Grow(text, len(content))
	for r.at < len(content) {
		token := r.nextToken()
		if r.refused {
			return text, false
		}
		text = append(text, token...)
	}
	return text, true
}

// deepest is how far values are put into one another that every reader takes.
const deepest = 1000

// reader reads valid JSON token by token, and refuses what some other readers do.
type reader struct {
	content []byte
	at      int
	refused bool
	// names are those of the objects that are open; begins says where the names of each object
	// or array begin.
	names  [][]byte
	begins []int
}

// nextToken is empty for spaces.
func (r *reader) nextToken() []byte {
	from := r.at
	switch c := r.content[r.at]; c {
	case ' ', '\t', '\n', '\r':
		r.at++
		return nil
	case '"':
		r.at += lengthOfString(r.content[r.at:])
		r.checkString(r.content[from:r.at])
	case '{', '[':
		r.at++
		r.begins = append(r.begins, len(r.names))
		r.refused = r.refused || len(r.begins) > deepest
	case '}', ']':
		r.at++
		r.leaveObject()
	default:
		r.at += lengthOfWord(r.content[r.at:])
		r.refused = r.refused || !isInRange(r.content[from:r.at])
	}
	return r.content[from:r.at]
}

// checkString looks at a string, which is a name if a colon follows.
func (r *reader) checkString(s []byte) {
	escaped := bytes.IndexByte(s, '\\') >= 0
	if escaped && hasHalfPair(s) {
		r.refused = true
	}
	rest := bytes.TrimLeft(r.content[r.at:], " \t\n\r")
	if len(rest) == 0 || rest[0] != ':' {
		return
	}
	name := s[1 : len(s)-1]
	if escaped {
		var plain string
		_ = json.Unmarshal(s, &plain) // it is valid
		name = []byte(plain)
	}
	r.names = append(r.names, name)
}

// leaveObject refuses an object that has a name twice.
func (r *reader) leaveObject() {
	begin := r.begins[len(r.begins)-1]
	names := r.names[begin:]
	r.names, r.begins = r.names[:begin], r.begins[:len(r.begins)-1]
	if len(names) < 2 {
		return
	}
	slices.SortFunc(names, bytes.Compare)
	for i := range names[1:] {
		r.refused = r.refused || bytes.Equal(names[i], names[i+1])
	}
}

// lengthOfString is how long the string is that a valid text begins with.
func lengthOfString(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// lengthOfWord is how long the number, word, comma or colon is that a valid text begins with.
func lengthOfWord(text []byte) int {
	if text[0] == ',' || text[0] == ':' {
		return 1
	}
	if i := bytes.IndexAny(text, ",]} \t\n\r"); i > 0 {
		return i
	}
	return len(text)
}

// isInRange reports whether a word is no number too large for a double.
func isInRange(word []byte) bool {
	if len(word) < 300 && !bytes.ContainsAny(word, "eE") || word[0] > '9' { // true, false, null
		return true
	}
	_, err := strconv.ParseFloat(string(word), 64)
	return err == nil
}

// hasHalfPair reports whether a string has half of an escaped surrogate pair, which is no
// character.
func hasHalfPair(s []byte) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		first := escapedRune(s[i:])
		switch i++; {
		case !utf16.IsSurrogate(first):
		case utf16.DecodeRune(first, escapedRune(s[i+5:])) == utf8.RuneError:
			return true
		default:
			i += 10
		}
	}
	return false
}

// escapedRune is the rune that \uXXXX stands for at the beginning of a text, or none.
func escapedRune(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return utf8.RuneError
	}
	code, _ := strconv.ParseUint(string(s[2:6]), 16, 16) // it is valid
	return rune(code)
}
