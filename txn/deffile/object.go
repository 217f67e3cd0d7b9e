package deffile

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/internal/nearest"
)

// object is a mapping whose fields are known.
type object struct {
	p      *parser
	node   *yaml.Node
	fields map[string]*yaml.Node
	// path is where the fields' lines are kept under.
	path string
}

// object reads a mapping, and refuses fields that are not among those allowed.
func (p *parser) object(n *yaml.Node, what string, allowed ...string) *object {
	o := &object{p: p, node: n, fields: make(map[string]*yaml.Node)}
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s: want fields with values", what)
		return o
	}
	for key, value := range p.pairs(n) {
		if !slices.Contains(allowed, key.Value) {
			p.fail(key.Line, "%s: unknown field %q%s; want %s", what, clip(key.Value), nearest.Hint(clip(key.Value), allowed),
				strings.Join(allowed, ", "))
			continue
		}
		o.fields[key.Value] = value
	}
	return o
}

// pairs yields the names and values of a mapping, and refuses names that come
// twice.
func (p *parser) pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
				p.fail(key.Line, "a field's name must be plain text")
			case seen[key.Value]:
				p.fail(key.Line, "field %q is there twice", clip(key.Value))
			case !yield(key, value):
				return
			}
			seen[key.Value] = true
		}
	}
}

// get is a field that is there and not null, and its line is remembered.
func (o *object) get(name, field string) (*yaml.Node, bool) {
	n, ok := o.fields[name]
	if !ok || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil, false
	}
	o.p.lines[o.path+field] = n.Line
	return n, true
}

// has tells whether any of the fields is there.
func (o *object) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return o.fields[name] != nil })
}

// text reads a field; what it is called in the definition is said by field.
func (o *object) text(name, field string) string {
	n, ok := o.get(name, field)
	if !ok {
		return ""
	}
	return o.p.text(n, name)
}

func (p *parser) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode {
		p.fail(n.Line, "%s: want text", what)
		return ""
	}
	return n.Value
}

func (o *object) duration(name, field string) time.Duration {
	n, ok := o.get(name, field)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(n.Value)
	if err != nil {
		o.p.fail(n.Line, "%s: %q: want a duration such as 30s or 1m30s", name, clip(n.Value))
	}
	return d
}

func (o *object) number(name, field string) int {
	n, ok := o.get(name, field)
	if !ok {
		return 0
	}
	i, err := strconv.Atoi(n.Value)
	if err != nil {
		o.p.fail(n.Line, "%s: %q: want a whole number", name, clip(n.Value))
	}
	return i
}

// texts reads a list, or one text as a list of one.
func (o *object) texts(name, field string) (list []string, ok bool) {
	n, ok := o.get(name, field)
	if !ok {
		return nil, false
	}
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}, true
	}
	for _, item := range o.p.items(n, name) {
		list = append(list, o.p.text(item, name))
	}
	return list, true
}

func (p *parser) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "%s: want a list", what)
		return nil
	}
	return n.Content
}

// table reads names with texts.
func (o *object) table(name, field string) map[string]string {
	n, ok := o.get(name, field)
	if !ok {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		o.p.fail(n.Line, "%s: want names with values", name)
		return nil
	}
	t := make(map[string]string)
	for key, value := range o.p.pairs(n) {
		t[key.Value] = o.p.text(value, name+"."+clip(key.Value))
	}
	return t
}

// clip shortens what goes into an error.
func clip(s string) string {
	const longest = 60
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}
