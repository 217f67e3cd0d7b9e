package deffile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readJSON makes the tree that readYAML would make. It reads token by token, to
// know the lines and to see fields that are given twice.
func (p *parser) readJSON(data []byte, valid bool) *yaml.Node {
	if !valid {
		line, err := syntaxError(data)
		p.addMistake(line, "", "%s", err)
		return nil
	}
	r := jsonReader{data: data, text: string(data), line: 1, payloads: p.payloads}
	root, err := r.value(0)
	if err != nil {
		p.addMistake(r.here(), r.blamed, "%s", err)
		return nil
	}
	return root
}

// syntaxError says where JSON stops being JSON, and why.
func syntaxError(data []byte) (line int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for depth, begun := 0, false; err == nil && (depth > 0 || !begun); begun = true {
		var token json.Token
		token, err = decoder.Token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > deepest {
			err = errTooDeep()
		}
	}
	switch {
	case err == nil:
		err = errors.New("there is something after the end")
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return 1 + bytes.Count(data[:decoder.InputOffset()], []byte("\n")), err
}

// jsonReader reads valid JSON. Most of a request is names and short texts, so it makes no
// memory of its own for each.
type jsonReader struct {
	data    []byte
	text    string // the same
	at      int
	nodes   int
	line    int
	counted int // bytes whose lines are in line
	// payloads have their text.
	payloads map[*yaml.Node][]byte
	// unused are nodes for what is read next, read those of the lists that are open.
	unused []yaml.Node
	read   []*yaml.Node
	// top is the field of the whole that is being read; blamed is the one that is too large.
	top, blamed string
}

// here is the line that was read last.
func (r *jsonReader) here() int {
	r.line += bytes.Count(r.data[r.counted:r.at], []byte("\n"))
	r.counted = r.at
	return r.line
}

func errTooDeep() error {
	return fmt.Errorf("values are put into one another more than %d times", deepest)
}

// skipSpace goes to where the next value begins, or a list ends.
func (r *jsonReader) skipSpace() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			r.at++
		default:
			return
		}
	}
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	r.skipSpace()
	if depth > deepest {
		return nil, errTooDeep()
	}
	if r.nodes++; r.nodes > mostMarks {
		r.blamed = r.top
		return nil, fmt.Errorf("too large: at most about %d values", mostMarks)
	}
	n := r.newNode()
	if open := r.text[r.at]; open == '{' || open == '[' {
		r.at++
		return n, r.list(n, open, depth)
	}
	n.Kind = yaml.ScalarNode
	n.Tag, n.Value = r.scalar()
	return n, nil
}

// newNode is a node in this line.
func (r *jsonReader) newNode() *yaml.Node {
	if len(r.unused) == 0 {
		r.unused = make([]yaml.Node, 32)
	}
	n := &r.unused[0]
	r.unused = r.unused[1:]
	n.Line = r.here()
	return n
}

func (r *jsonReader) scalar() (tag, value string) {
	from := r.at
	r.at += lengthOfValue(r.text[from:])
	switch word := r.text[from:r.at]; word[0] {
	case '"':
		return "!!str", r.plainText(word)
	case 't', 'f':
		return "!!bool", word
	case 'n':
		return "!!null", word
	default:
		return "!!float", r.ownText(word)
	}
}

// plainText is what a string says.
func (r *jsonReader) plainText(word string) string {
	if strings.IndexByte(word, '\\') < 0 {
		return r.ownText(word[1 : len(word)-1])
	}
	var text string
	_ = json.Unmarshal([]byte(word), &text) // it is valid
	return text
}

// ownText keeps a large file from staying in memory for as long as one of its names.
func (r *jsonReader) ownText(part string) string {
	const largeFile = 8 << 10
	if len(r.text) > largeFile {
		return strings.Clone(part)
	}
	return part
}

// list reads an array, or an object as names and values in turn.
func (r *jsonReader) list(n *yaml.Node, open byte, depth int) error {
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	begin := len(r.read)
	for r.skipSpace(); r.text[r.at] != '}' && r.text[r.at] != ']'; r.skipSpace() {
		inner, err := r.inner(n.Kind, r.read[begin:], depth)
		if err != nil {
			return err
		}
		r.read = append(r.read, inner)
	}
	r.at++
	n.Content = append(n.Content, r.read[begin:]...)
	r.read = r.read[:begin]
	return nil
}

// inner reads what comes next in a list or an object. A payload is nobody's business: its
// text is kept as it is, and costs no more than that.
func (r *jsonReader) inner(kind yaml.Kind, before []*yaml.Node, depth int) (*yaml.Node, error) {
	i := len(before)
	if depth == 0 && i%2 == 1 {
		r.top = before[i-1].Value
	}
	if kind != yaml.MappingNode || i%2 == 0 || before[i-1].Value != "payload" {
		return r.value(depth + 1)
	}
	from := r.at
	n := r.newNode()
	if open := r.text[from]; open == '{' || open == '[' {
		r.at += lengthOfValue(r.text[from:])
		n.Kind, n.Tag, n.Line = yaml.MappingNode, "!!map", r.here()
	} else {
		n.Kind = yaml.ScalarNode
		n.Tag, n.Value = r.scalar()
	}
	text := bytes.NewBuffer(make([]byte, 0, r.at-from))
	err := json.Compact(text, r.data[from:r.at])
	r.payloads[n] = text.Bytes()
	return n, err
}

// lengthOfValue is how long the value is that a valid text begins with.
func lengthOfValue(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += lengthOfString(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// lengthOfString is how long the string is that a valid text begins with.
func lengthOfString(text string) int {
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
