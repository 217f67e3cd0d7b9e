package deffile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// readJSON makes the tree that readYAML would make. It reads token by token, to
// know the lines and to see fields that are given twice.
func (p *parser) readJSON(data []byte) *yaml.Node {
	r := jsonReader{data: data, line: 1, decoder: json.NewDecoder(bytes.NewReader(data))}
	r.decoder.UseNumber()
	root, err := r.value(0)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		p.fail(r.here(), "%s", err)
		return nil
	}
	return root
}

type jsonReader struct {
	data    []byte
	decoder *json.Decoder
	line    int
	counted int // bytes whose lines are in line
}

// here is the line that was read last.
func (r *jsonReader) here() int {
	at := int(r.decoder.InputOffset())
	r.line += bytes.Count(r.data[r.counted:at], []byte("\n"))
	r.counted = at
	return r.line
}

func (r *jsonReader) end() error {
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the end")
	}
	return nil
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	token, err := r.decoder.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case depth > deepest:
		return nil, fmt.Errorf("values are put into one another more than %d times", deepest)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.here()}
	switch token := token.(type) {
	case json.Delim:
		return n, r.list(n, token, depth)
	case string:
		n.Tag, n.Value = "!!str", token
	case json.Number:
		n.Tag, n.Value = "!!float", token.String()
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(token)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// list reads an array, or an object as names and values in turn.
func (r *jsonReader) list(n *yaml.Node, open json.Delim, depth int) error {
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	for r.decoder.More() {
		inner, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, inner)
	}
	_, err := r.decoder.Token()
	return err
}
