package deffile

import (
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

func (p *parser) tcc(o *object) txn.Definition {
	t := tcc.New(o.text("name"))
	if branches, ok := o.get("branches"); ok {
		p.branches(t, o, branches, "")
	}
	return p.finish(o, t.Definition)
}

func (p *parser) branches(t *tcc.TCC, in *object, list *yaml.Node, prefix string) {
	for i, item := range in.items(list, "branches") {
		o := in.entryObject(
			item, "branches", i,
			"id", "try", "confirm", "cancel", "do", "compensate", "assured", "branches",
			"after", "use", "payload", "payloadBytes", "policy",
		)
		id := o.readID(prefix)
		if id == "" {
			continue
		}
		p.branch(t, o, id, prefix)
		readOrder(o, t)
	}
}

// branch adds a branch of one of the four kinds.
func (p *parser) branch(t *tcc.TCC, o *object, id, prefix string) {
	kinds := 0
	for _, fields := range [][]string{{"try", "confirm", "cancel"}, {"do", "compensate"}, {"assured"}, {"branches"}} {
		if o.hasAny(fields...) {
			kinds++
		}
	}
	if kinds != 1 {
		o.addWrong(o.node, "want try, confirm and cancel, or do and compensate, or assured, or branches")
		return
	}
	inner, nested := o.get("branches")
	switch {
	case nested:
		other := tcc.New(id)
		p.branches(other, o, inner, prefix+id+"/")
		t.Nested(id, other)
	case o.hasAny("assured"):
		t.Assured(id, o.target("assured"))
	case o.hasAny("do", "compensate"):
		t.Compensating(id, o.target("do"), o.target("compensate"))
	default:
		t.Branch(id, o.target("try"), o.target("confirm"), o.target("cancel"))
	}
}
