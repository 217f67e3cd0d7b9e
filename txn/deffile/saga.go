package deffile

import (
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func (p *parser) saga(o *object) txn.Definition {
	s := saga.New(o.text("name"))
	if steps, ok := o.get("steps"); ok {
		p.steps(s, o, steps, "")
	}
	d := p.finish(o, s.Definition)
	d.Recovery = txn.Recovery(o.text("recovery"))
	return d
}

// steps adds the steps of a list to a saga; prefix is what the outer sagas add to
// their names.
func (p *parser) steps(s *saga.Saga, in *object, list *yaml.Node, prefix string) {
	for i, item := range in.items(list, "steps") {
		o := in.entryObject(
			item, "steps", i,
			"id", "action", "compensate", "after", "use", "payload", "payloadBytes", "policy", "steps",
		)
		id := o.readID(prefix)
		if id == "" {
			continue
		}
		p.readStep(s, o, id, prefix)
		readOrder(o, s)
	}
}

func (p *parser) readStep(s *saga.Saga, o *object, id, prefix string) {
	inner, nested := o.get("steps")
	if !nested {
		s.Step(id, o.target("action"), o.target("compensate"))
		return
	}
	if o.hasAny("action", "compensate") {
		o.addWrong(o.node, "want action and compensate, or steps")
	}
	other := saga.New(id)
	p.steps(other, o, inner, prefix+id+"/")
	s.Nested(id, other)
}
