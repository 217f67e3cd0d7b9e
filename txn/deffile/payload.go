package deffile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/internal/fieldpath"
)

// payload is a field of any value as JSON, or one of bytes; nil if neither is there.
func (o *object) payload() []byte {
	n, ok := o.fields["payload"]
	text, bytes := o.get("payloadBytes")
	switch {
	case ok && bytes:
		o.wrongField(n, "payload", "want payload, or payloadBytes")
	case bytes:
		return o.bytes(text, "payloadBytes")
	case ok && n.Value == "" && n.ShortTag() == "!!null": // a field without a value
	case ok:
		at := place{in: o, name: "payload"}
		if n.ShortTag() == "!!binary" {
			return o.bytes(n, "payload")
		}
		if text, ok := o.p.payloads[n]; ok {
			return text
		}
		return o.p.appendJSON(nil, n, at)
	}
	return nil
}

func (o *object) bytes(n *yaml.Node, name string) []byte {
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
	if err != nil || n.Kind != yaml.ScalarNode {
		o.wrongField(n, name, "want base64")
	}
	return raw
}

// appendJSON writes a value, in the order of the file. Mistakes in it are told of the payload as
// a whole.
func (p *parser) appendJSON(b []byte, n *yaml.Node, at place) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		return p.appendObject(b, n, at)
	case yaml.SequenceNode:
		return p.appendArray(b, n, at)
	default:
		text, err := scalar(n)
		if err != nil {
			p.addMistake(n.Line, at.String(), "%s", err)
		}
		return append(b, text...)
	}
}

func (p *parser) appendObject(b []byte, n *yaml.Node, at place) []byte {
	b = append(b, '{')
	first := true
	for key, value := range p.pairs(n, at) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, quoted(key.Value)...), ':')
		b = p.appendJSON(b, value, at)
	}
	return append(b, '}')
}

func (p *parser) appendArray(b []byte, n *yaml.Node, at place) []byte {
	b = append(b, '[')
	for i, item := range n.Content {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendJSON(b, item, at)
	}
	return append(b, ']')
}

// scalar is one value as JSON. Numbers that JSON has are taken as they are written,
// so that none loses digits.
func scalar(n *yaml.Node) ([]byte, error) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp", "!!binary":
		if n.Style == 0 && isBeyondNumbers(n.Value) {
			return nil, fmt.Errorf("%s is too large for a number: write it in quotes", fieldpath.Clip(n.Value))
		}
		return quoted(n.Value), nil
	case "!!null":
		return []byte("null"), nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return []byte(n.Value), nil
		}
		if hasLeadingZero(n.Value) {
			return nil, fmt.Errorf("%s begins with a zero, as no number does: write it in quotes",
				fieldpath.Clip(n.Value))
		}
		return converted(n)
	case "!!bool":
		return converted(n)
	default:
		return nil, fmt.Errorf("tag %s is not supported", fieldpath.Clip(tag))
	}
}

// converted is a value that YAML writes in its own way, such as 0x1F or .5. Decimal numbers keep
// all their digits in JSON's spelling.
func converted(n *yaml.Node) ([]byte, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("%q: not a number or truth value", fieldpath.Clip(n.Value))
	}
	if number := []byte(inJSON(n.Value)); json.Valid(number) {
		return number, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New(fieldpath.Clip(n.Value) + " cannot be written as JSON: write it in quotes")
	}
	return b, nil
}

// inJSON is a decimal number of YAML, such as +1_000.5, .5 or 5., as JSON writes it. What comes out
// of other values is not valid, or the same.
func inJSON(number string) string {
	digits := strings.TrimPrefix(strings.ReplaceAll(number, "_", ""), "+")
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	whole, fraction, found := strings.Cut(digits, ".")
	if found && (fraction == "" || fraction[0] == 'e' || fraction[0] == 'E') {
		digits = whole + fraction
	}
	return sign + digits
}

// hasLeadingZero reports whether a number is one like 02134. To some readers of YAML that is 1116,
// to others 2134, and who wrote it meant a text.
func hasLeadingZero(number string) bool {
	digits := strings.TrimLeft(number, "+-")
	return len(digits) > 1 && digits[0] == '0' && (digits[1] == '_' || '0' <= digits[1] && digits[1] <= '9')
}

// isBeyondNumbers reports whether what stands without quotes was meant to be a number, such as
// 1e400, and is a text only because it is too large.
func isBeyondNumbers(text string) bool {
	if strings.IndexAny(text, "+-.0123456789") != 0 {
		return false
	}
	_, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return errors.Is(err, strconv.ErrRange)
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always can be
	return b
}
