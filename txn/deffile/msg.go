package deffile

import (
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
)

func (p *parser) msg(o *object) txn.Definition {
	m := msg.New(o.text("name", "name"))
	if receivers, ok := o.get("deliver", "branches"); ok {
		p.receivers(m, receivers)
	}
	d := p.finish(o, m.Definition)
	d.Delay = o.duration("delay", "delay")
	d.Check = p.producer(o)
	return d
}

func (p *parser) receivers(m *msg.Message, list *yaml.Node) {
	for _, item := range p.items(list, "deliver") {
		o := p.object(item, "receiver", "id", "to", "topic", "payload", "policy")
		id := o.part("")
		if id == "" {
			continue
		}
		if o.has("to") == o.has("topic") {
			p.fail(item.Line, "receiver %q: want to, or topic", clip(id))
		}
		to := o.target("to", "confirm")
		if topic := o.text("topic", "confirm"); topic != "" {
			to = txn.Target("topic:" + topic)
		}
		calls(o, m.To(id, to))
	}
}

// producer reads who is asked about the local transaction.
func (p *parser) producer(o *object) *txn.Check {
	n, ok := o.get("check", "check")
	if !ok {
		return nil
	}
	f := p.object(n, "check", "target", "after", "policy")
	f.path = "check."
	return &txn.Check{Target: f.target("target", "target"), After: f.duration("after", "after"), Policy: f.policy()}
}
