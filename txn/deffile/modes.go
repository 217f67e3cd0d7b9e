package deffile

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// mostParts bounds the steps of one file, those of nested sagas included. The
// coordinator's own limit is lower as a rule; this one bounds the memory.
const mostParts = 10_000

// common are the fields of all modes.
func common(own ...string) []string {
	return append([]string{"mode", "name", "id", "timeout", "parallel", "headers", "payload"}, own...)
}

// definition reads the file by its mode.
func (p *parser) definition(root *yaml.Node) txn.Definition {
	switch mode := p.mode(root); mode {
	case saga.Name:
		return p.saga(p.object(root, "saga", common("recovery", "steps")...))
	case tcc.Name:
		return p.tcc(p.object(root, "tcc", common("branches")...))
	case msg.Name:
		return p.msg(p.object(root, "msg", common("delay", "check", "deliver")...))
	case "":
		p.fail(root.Line, "mode is missing; want saga, tcc or msg")
	default:
		p.fail(root.Line, "mode %q is not known%s; want saga, tcc or msg", clip(mode),
			nearest.Hint(clip(mode), []string{saga.Name, tcc.Name, msg.Name}))
	}
	return txn.Definition{}
}

func (p *parser) mode(root *yaml.Node) string {
	if root.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "mode" {
			return root.Content[i+1].Value
		}
	}
	return ""
}

// finish adds what all modes have to what a builder made.
func (p *parser) finish(o *object, build func(payload any) (txn.Definition, error)) txn.Definition {
	d, err := build(o.payload("payload", "payload"))
	if err != nil {
		p.builderErrors(o.node.Line, err)
		return txn.Definition{}
	}
	d.ID = o.text("id", "id")
	d.Timeout = o.duration("timeout", "timeout")
	d.Parallel = o.number("parallel", "parallel")
	d.Headers = o.table("headers", "headers")
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

// order reads what a branch waits for and takes over.
func order[B graphBuilder[B]](o *object, b B) {
	if after, ok := o.texts("after", "after"); ok {
		b.After(after...)
	}
	use := o.table("use", "use")
	for _, field := range slices.Sorted(maps.Keys(use)) {
		b.Use(field, use[field])
	}
	calls(o, b)
}

// calls reads how a branch is called.
func calls[B builder[B]](o *object, b B) {
	if payload := o.payload("payload", "payload"); payload != nil {
		b.Payload(payload)
	}
	if policy := o.policy(); policy != nil {
		b.Policy(*policy)
	}
}

func (o *object) policy() *txn.Policy {
	n, ok := o.get("policy", "policy")
	if !ok {
		return nil
	}
	f := o.p.object(n, "policy", "timeout", "backoff", "maxBackoff", "attempts", "then", "hook")
	f.path = o.path + "policy."
	return &txn.Policy{
		Timeout:    f.duration("timeout", "timeout"),
		Backoff:    f.duration("backoff", "backoff"),
		MaxBackoff: f.duration("maxBackoff", "maxBackoff"),
		Attempts:   f.number("attempts", "attempts"),
		Then:       txn.Exhausted(f.text("then", "then")),
		Hook:       txn.Target(f.text("hook", "hook")),
	}
}

// part reads the ID of a step, and remembers where it is.
func (o *object) part(prefix string) (id string) {
	if o.p.parts++; o.p.parts > mostParts {
		if o.p.parts == mostParts+1 {
			o.p.fail(o.node.Line, "more than %d steps", mostParts)
		}
		return ""
	}
	if id = o.text("id", "id"); id == "" {
		o.p.fail(o.node.Line, "id is missing")
		return ""
	}
	at := branchPath(prefix + id)
	o.path = at + "."
	o.p.lines[at] = o.node.Line
	return id
}

// branchPath is where the lines of a branch are kept; no field is called so.
func branchPath(id string) string { return "[" + id + "]" }

// target reads a field that says who is called.
func (o *object) target(name, field string) txn.Target { return txn.Target(o.text(name, field)) }
