package deffile

import (
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
)

func (p *parser) msg(o *object) txn.Definition {
	m := msg.New(o.text("name"))
	if receivers, ok := o.get("deliver"); ok {
		p.receivers(m, o, receivers)
	}
	d := p.finish(o, m.Definition)
	d.Delay = o.duration("delay")
	d.Check = p.producer(o)
	return d
}

func (p *parser) receivers(m *msg.Message, in *object, list *yaml.Node) {
	for i, item := range in.items(list, "deliver") {
		o := in.entryObject(item, "deliver", i, "id", "to", "topic", "payload", "payloadBytes", "policy")
		id := o.readID("")
		if id == "" {
			continue
		}
		if o.hasAny("to") == o.hasAny("topic") {
			o.addWrong(item, "want to, or topic")
		}
		to := o.target("to")
		if topic := o.text("topic"); topic != "" {
			to = txn.Topic(topic)
		}
		calls(o, m.To(id, to))
	}
}

// producer reads who is asked about the local transaction.
func (p *parser) producer(o *object) *txn.Check {
	n, ok := o.get("check")
	if !ok {
		return nil
	}
	f := o.fieldObject(n, "check", "target", "after", "policy")
	return &txn.Check{Target: f.target("target"), After: f.duration("after"), Policy: f.policy()}
}
