package deffile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/internal/fieldpath"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// place is where something is in the file.
type place struct {
	in   *object
	name string // the field of the object
}

// String is that in the file's own words, such as steps[1].compensate.
func (at place) String() string { return fieldpath.Inside(at.in.String(), at.name) }

// String is where an object is in the file, which is found out only when it is told.
func (o *object) String() string {
	switch {
	case o == nil || o.in == nil:
		return ""
	case o.number < 0:
		return fieldpath.Inside(o.in.String(), o.name)
	default:
		return fieldpath.Item(fieldpath.Inside(o.in.String(), o.name), o.number)
	}
}

// find is the line and the name of a field of the definition, or of what it would be in. What
// the file does not say has the name that the mode has for it.
func (p *parser) find(d *txn.Definition, field string) (line int, name string) {
	o, rest := p.startOf(d, field)
	node, line, name := o.node, o.node.Line, o.String()
	for rest != "" && rest[0] != '[' {
		element := strings.TrimPrefix(rest, ".")
		if end := strings.IndexAny(element, ".["); end >= 0 {
			element = element[:end]
		}
		word, value := member(node, element)
		if value == nil {
			break
		}
		node, line, name = value, value.Line, fieldpath.Inside(name, word)
		rest = strings.TrimPrefix(rest, ".")[len(element):]
	}
	return line, name + modes.InWords(p.mode, rest)
}

// startOf is the branch that a field is in, or the whole file, and the rest of the path.
func (p *parser) startOf(d *txn.Definition, field string) (o *object, rest string) {
	found := regexp.MustCompile(`^branches\[(\d+)\](.*)$`).FindStringSubmatch(field)
	if found == nil {
		return p.whole, field
	}
	i, err := strconv.Atoi(found[1])
	if err != nil || i >= len(d.Branches) {
		return p.whole, field
	}
	same, nth := p.byID[d.Branches[i].ID], 0
	for k := range d.Branches[:i] {
		if d.Branches[k].ID == d.Branches[i].ID {
			nth++
		}
	}
	if nth >= len(same) {
		return p.whole, field
	}
	return same[nth], found[2]
}

// member finds a field of the definition under one of the names that files have for it.
func member(n *yaml.Node, field string) (name string, value *yaml.Node) {
	names := fileNames(field)
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if name := n.Content[i].Value; slices.Contains(names, name) {
			return name, n.Content[i+1]
		}
	}
	return "", nil
}

// fileNames are what files call a field of the definition, in one mode or another.
func fileNames(field string) []string {
	names := []string{field}
	for _, m := range modes.All() {
		names = append(names, m.Fields()[field])
	}
	switch field {
	case "confirm":
		return append(names, "assured", "topic")
	case "payload":
		return append(names, "payloadBytes")
	default:
		return names
	}
}
