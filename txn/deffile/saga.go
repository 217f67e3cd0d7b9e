package deffile

import (
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func (p *parser) saga(o *object) txn.Definition {
	s := saga.New(o.text("name", "name"))
	if steps, ok := o.get("steps", "branches"); ok {
		p.steps(s, steps, "")
	}
	d := p.finish(o, s.Definition)
	d.Recovery = txn.Recovery(o.text("recovery", "recovery"))
	return d
}

// steps adds the steps of a list to a saga; prefix is what the outer sagas add to
// their names.
func (p *parser) steps(s *saga.Saga, list *yaml.Node, prefix string) {
	for _, item := range p.items(list, "steps") {
		o := p.object(item, "step", "id", "action", "compensate", "after", "use", "payload", "policy", "steps")
		id := o.part(prefix)
		if id == "" {
			continue
		}
		p.step(s, o, id, prefix)
		order(o, s)
	}
}

func (p *parser) step(s *saga.Saga, o *object, id, prefix string) {
	inner, nested := o.get("steps", "steps")
	if !nested {
		s.Step(id, o.target("action", "do"), o.target("compensate", "undo"))
		return
	}
	if o.has("action", "compensate") {
		p.fail(o.node.Line, "step %q: want action and compensate, or steps", clip(id))
	}
	other := saga.New(id)
	p.steps(other, inner, prefix+id+"/")
	s.Nested(id, other)
}
