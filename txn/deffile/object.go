package deffile

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/internal/fieldpath"
	"github.com/bedrock-go/bedrock/internal/nearest"
)

// object is a mapping whose fields are known.
type object struct {
	p      *parser
	node   *yaml.Node
	fields map[string]*yaml.Node
	// in is what the object is in, as a field of that name or in a list of it; nil: it is
	// the whole file.
	in     *object
	name   string
	number int // its place in the list; -1: it is no list
	// index is which of all parts it is, in the order of the file.
	index int
}

// fieldObject reads a field that is an object, and refuses what is not among the fields allowed.
func (o *object) fieldObject(n *yaml.Node, name string, allowed ...string) *object {
	return (&object{p: o.p, in: o, name: name, number: -1}).read(n, allowed)
}

// entryObject reads an object in a list, and refuses what is not among the fields allowed.
func (o *object) entryObject(n *yaml.Node, name string, i int, allowed ...string) *object {
	return (&object{p: o.p, in: o, name: name, number: i}).read(n, allowed)
}

func (o *object) read(n *yaml.Node, allowed []string) *object {
	o.node, o.fields = n, make(map[string]*yaml.Node)
	if n.Kind != yaml.MappingNode {
		o.addWrong(n, "want fields with values")
		return o
	}
	for key, value := range o.p.pairs(n, o) {
		if o.p.mistakes.full() { // to look for what may be meant takes time
			return o
		}
		if !slices.Contains(allowed, key.Value) {
			o.p.addMistake(key.Line, place{in: o, name: key.Value}.String(), "%s", o.unknown(key.Value, allowed))
			continue
		}
		o.fields[key.Value] = value
	}
	return o
}

// unknown says what is wrong with a field that is not allowed.
func (o *object) unknown(name string, allowed []string) string {
	if o.in == nil && slices.Contains(fieldsOfAllModes(), name) {
		wrong := "has no meaning in mode " + o.p.mode
		if o.p.mode == "" {
			wrong = "cannot join a transaction"
		}
		return wrong + "; want " + strings.Join(allowed, ", ")
	}
	return nearest.UnknownField(fieldpath.Clip(name), allowed)
}

// addWrong keeps a mistake that is about the object as a whole.
func (o *object) addWrong(n *yaml.Node, format string, args ...any) {
	o.p.addMistake(n.Line, o.String(), format, args...)
}

// wrongField keeps a mistake that is about one of its fields.
func (o *object) wrongField(n *yaml.Node, name, format string, args ...any) {
	o.p.addMistake(n.Line, place{in: o, name: name}.String(), format, args...)
}

// pairs yields the names and values of a mapping, and refuses names that come
// twice.
func (p *parser) pairs(n *yaml.Node, in fmt.Stringer) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
				p.addMistake(key.Line, in.String(), "a field's name must be plain text")
			case seen[key.Value]:
				p.addMistake(key.Line, in.String(), "field %q is there twice", fieldpath.Clip(key.Value))
			case !yield(key, value):
				return
			}
			seen[key.Value] = true
		}
	}
}

// get is the value of a field that is there and not null.
func (o *object) get(name string) (*yaml.Node, bool) {
	n, ok := o.fields[name]
	return n, ok && !isNull(n)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// hasAny reports whether any of the fields is there and not null.
func (o *object) hasAny(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := o.get(name); return ok })
}

// text reads a field.
func (o *object) text(name string) string {
	n, ok := o.get(name)
	if !ok {
		return ""
	}
	return o.p.text(n, place{in: o, name: name})
}

func (p *parser) text(n *yaml.Node, at fmt.Stringer) string {
	if n.Kind != yaml.ScalarNode {
		p.addMistake(n.Line, at.String(), "want text")
		return ""
	}
	return n.Value
}

// duration reads how long something is. What is longer than a duration can be is refused
// later, with its limit.
func (o *object) duration(name string) time.Duration {
	n, ok := o.get(name)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case err == nil:
	case !regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*(ns|us|µs|ms|s|m|h))+$`).MatchString(n.Value):
		o.wrongField(n, name, "%q: want a duration such as 30s or 1m30s", fieldpath.Clip(n.Value))
	case n.Value[0] == '-':
		return math.MinInt64
	default:
		return math.MaxInt64
	}
	return d
}

// number32 reads how many. What is more than the protocol has numbers is refused later, with
// its limit.
func (o *object) number32(name string) int {
	n, ok := o.get(name)
	if !ok {
		return 0
	}
	i, err := strconv.ParseInt(n.Value, 10, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		o.wrongField(n, name, "%q: want a whole number", fieldpath.Clip(n.Value))
	}
	return int(i)
}

// textList reads a list, or one text as a list of one.
func (o *object) textList(name string) (list []string, ok bool) {
	n, ok := o.get(name)
	if !ok {
		return nil, false
	}
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}, true
	}
	at := place{in: o, name: name}
	for _, item := range o.items(n, name) {
		if isNull(item) {
			o.p.addMistake(item.Line, at.String(), "has an entry without a value")
			continue
		}
		list = append(list, o.p.text(item, at))
	}
	return list, true
}

func (o *object) items(n *yaml.Node, name string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		o.wrongField(n, name, "want a list")
		return nil
	}
	return n.Content
}

// table reads names with texts. A null among them is a text that was forgotten.
func (o *object) table(name string) map[string]string {
	n, ok := o.get(name)
	if !ok {
		return nil
	}
	at := place{in: o, name: name}
	if n.Kind != yaml.MappingNode {
		o.wrongField(n, name, "want names with values")
		return nil
	}
	t := make(map[string]string)
	for key, value := range o.p.pairs(n, at) {
		entry := &entryPlace{at, key.Value}
		if isNull(value) {
			o.p.addMistake(value.Line, entry.String(), "has no value")
			continue
		}
		t[key.Value] = o.p.text(value, entry)
	}
	return t
}

// entryPlace is where an entry of a table is.
type entryPlace struct {
	table place
	key   string
}

// String is that in the file's own words.
func (e *entryPlace) String() string { return fmt.Sprintf("%s[%q]", e.table, fieldpath.Clip(e.key)) }
