package deffile

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/internal/fieldpath"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// mostParts bounds the steps of one file, those of nested sagas included. The
// coordinator's own limit is lower as a rule; this one bounds the memory.
const mostParts = 10_000

// common are the fields of all modes.
func common(own ...string) []string {
	return append([]string{"mode", "name", "id", "timeout", "parallel", "headers", "payload", "payloadBytes"}, own...)
}

// reader reads the definitions of one mode.
type reader struct {
	fields []string // besides the common ones
	read   func(p *parser, o *object) txn.Definition
}

// readers has one for every mode.
func readers() map[string]reader {
	return map[string]reader{
		saga.Name: {[]string{"recovery", "steps"}, (*parser).saga},
		tcc.Name:  {[]string{"branches"}, (*parser).tcc},
		msg.Name:  {[]string{"delay", "check", "deliver"}, (*parser).msg},
	}
}

// fieldsOfAllModes are the fields that some mode has for itself.
func fieldsOfAllModes() []string {
	var all []string
	for _, r := range readers() {
		all = append(all, r.fields...)
	}
	slices.Sort(all)
	return all
}

// definition reads the file by its mode.
func (p *parser) definition(root *yaml.Node) txn.Definition {
	if root.Kind != yaml.MappingNode {
		p.addMistake(root.Line, "", "want fields with values, such as mode: saga")
		return txn.Definition{}
	}
	p.whole = &object{p: p}
	n := modeOf(root)
	p.mode = p.text(n, place{name: "mode"})
	if r, ok := readers()[p.mode]; ok {
		p.whole.read(root, common(r.fields...))
		return r.read(p, p.whole)
	}
	if n.Kind == yaml.ScalarNode {
		wrong := modes.Unknown(p.mode)
		p.addMistake(n.Line, wrong.Field, "%s", wrong.Problem)
		p.whole.read(root, common(fieldsOfAllModes()...))
	}
	return txn.Definition{}
}

// joining reads what joins a transaction. Only TCC transactions and messages can be joined.
func (p *parser) joining(root *yaml.Node) txn.Definition {
	p.whole = (&object{p: p}).read(root, []string{"id", "branches", "deliver"})
	if len(p.mistakes) == 0 && p.whole.hasAny("branches") == p.whole.hasAny("deliver") {
		p.whole.addWrong(root, "want branches, or deliver")
	}
	d := p.joiningParts()
	if len(p.mistakes) == 0 && len(d.Branches) == 0 {
		p.whole.addWrong(root, "want branches, or deliver, and something in them")
	}
	return d
}

func (p *parser) joiningParts() txn.Definition {
	if p.whole.hasAny("deliver") {
		p.mode = msg.Name
		return p.msg(p.whole)
	}
	p.mode = tcc.Name
	return p.tcc(p.whole)
}

// modeOf finds the mode. One that is missing, or null, is an empty one in the first line.
func modeOf(root *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if n := root.Content[i+1]; root.Content[i].Value == "mode" && n.ShortTag() != "!!null" {
			return n
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Line: root.Line}
}

// finish adds what all modes have to what a builder made.
func (p *parser) finish(o *object, build func(payload any) (txn.Definition, error)) txn.Definition {
	d, err := build(o.payload())
	if err != nil {
		p.builderErrors(err)
		return txn.Definition{}
	}
	d.ID = o.text("id")
	d.Timeout = o.duration("timeout")
	d.Parallel = o.number32("parallel")
	d.Headers = o.table("headers")
	return d
}

// builder is what the builders have in common.
type builder[B any] interface {
	Payload(v any) B
	Policy(policy txn.Policy) B
}

// graphBuilder is a builder of modes whose branches have an order.
type graphBuilder[B any] interface {
	builder[B]
	After(ids ...string) B
	Use(field, from string) B
}

// readOrder reads what a branch waits for and takes over.
func readOrder[B graphBuilder[B]](o *object, b B) {
	after, ok := o.textList("after")
	if ok && o.mayHandDown(linkBytes*len(after)) {
		b.After(after...)
	}
	use := o.table("use")
	if o.mayHandDown(linkBytes * len(use)) {
		for _, field := range slices.Sorted(maps.Keys(use)) {
			b.Use(field, use[field])
		}
	}
	calls(o, b)
}

// calls reads how a branch is called.
func calls[B builder[B]](o *object, b B) {
	if payload := o.payload(); payload != nil && o.mayHandDown(len(payload)) {
		b.Payload(payload)
	}
	if policy := o.policy(); policy != nil {
		b.Policy(*policy)
	}
}

func (o *object) policy() *txn.Policy {
	n, ok := o.get("policy")
	if !ok {
		return nil
	}
	f := o.fieldObject(n, "policy", "timeout", "backoff", "maxBackoff", "attempts", "then", "hook")
	return &txn.Policy{
		Timeout:    f.duration("timeout"),
		Backoff:    f.duration("backoff"),
		MaxBackoff: f.duration("maxBackoff"),
		Attempts:   f.number32("attempts"),
		Then:       txn.Fallback(f.text("then")),
		Hook:       txn.Target(f.text("hook")),
	}
}

// readID reads the ID of a step, and remembers where it is.
func (o *object) readID(prefix string) (id string) {
	if o.p.parts++; o.p.parts > mostParts {
		if o.p.parts == mostParts+1 {
			o.in.wrongField(o.node, o.name, "more than %d steps", mostParts)
		}
		return ""
	}
	n, ok := o.get("id")
	switch {
	case ok:
		if id = o.text("id"); id == "" && n.Kind == yaml.ScalarNode {
			o.wrongField(n, "id", `"": %s`, idRule())
		}
	case o.node.Kind == yaml.MappingNode:
		o.wrongField(o.node, "id", "is missing; %s", idRule())
	}
	if id == "" {
		return ""
	}
	if o.hasAny("steps", "branches") && len(prefix)+len(id) >= txn.MaxBranchID {
		o.wrongField(o.node, "id", "%q: %s, with those of the steps in it", fieldpath.Clip(prefix+id), idRule())
		return "" // it would go in front of them all
	}
	o.index = o.p.parts
	o.p.byID[prefix+id] = append(o.p.byID[prefix+id], o)
	return id
}

// idRule is what the ID of a branch looks like.
func idRule() string { return fmt.Sprintf("want 1 to %d letters, digits and _ - /", txn.MaxBranchID) }

// Every part that is in another one gets a copy of what is said of that.
const (
	// linkBytes is about what an entry of after or use takes.
	linkBytes = 100
	// mostCopied bounds all those copies, in bytes.
	mostCopied = 16 << 20
)

// mayHandDown counts what a part says, which those in it get too, and refuses what is too much.
func (o *object) mayHandDown(bytes int) bool {
	inside := o.p.parts - o.index
	if o.p.copied > mostCopied {
		return false
	}
	if o.p.copied += inside * bytes; o.p.copied > mostCopied {
		o.addWrong(o.node, "too large: steps get more than %d bytes from those they are in", mostCopied)
		return false
	}
	return true
}

// target reads a field that says who is called.
func (o *object) target(name string) txn.Target { return txn.Target(o.text(name)) }
