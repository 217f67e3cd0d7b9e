package deffile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// payload is a field of any value as JSON, or as bytes if it is marked so; nil if it
// is not there.
func (o *object) payload(name, field string) any {
	n, ok := o.get(name, field)
	if !ok {
		return nil
	}
	if n.ShortTag() == "!!binary" {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			o.p.fail(n.Line, "%s: not base64", name)
		}
		return raw
	}
	return json.RawMessage(o.p.appendJSON(nil, n))
}

// appendJSON writes a value, in the order of the file.
func (p *parser) appendJSON(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		return p.appendObject(b, n)
	case yaml.SequenceNode:
		return p.appendArray(b, n)
	default:
		text, err := scalar(n)
		if err != nil {
			p.fail(n.Line, "%s", err)
		}
		return append(b, text...)
	}
}

func (p *parser) appendObject(b []byte, n *yaml.Node) []byte {
	b = append(b, '{')
	first := true
	for key, value := range p.pairs(n) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, quoted(key.Value)...), ':')
		b = p.appendJSON(b, value)
	}
	return append(b, '}')
}

func (p *parser) appendArray(b []byte, n *yaml.Node) []byte {
	b = append(b, '[')
	for i, item := range n.Content {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendJSON(b, item)
	}
	return append(b, ']')
}

// scalar is one value as JSON. Numbers that JSON has are taken as they are written,
// so that none loses digits.
func scalar(n *yaml.Node) ([]byte, error) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp", "!!binary":
		return quoted(n.Value), nil
	case "!!null":
		return []byte("null"), nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return []byte(n.Value), nil
		}
		return converted(n)
	case "!!bool":
		return converted(n)
	default:
		return nil, fmt.Errorf("tag %s is not supported", clip(tag))
	}
}

// converted is a value that YAML writes in its own way, such as 0x1F or .5.
func converted(n *yaml.Node) ([]byte, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("%q: not a number or truth value", clip(n.Value))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New(clip(n.Value) + " cannot be written as JSON")
	}
	return b, nil
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always can be
	return b
}
