package deffile

import (
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

func (p *parser) tcc(o *object) txn.Definition {
	t := tcc.New(o.text("name", "name"))
	if branches, ok := o.get("branches", "branches"); ok {
		p.branches(t, branches, "")
	}
	return p.finish(o, t.Definition)
}

func (p *parser) branches(t *tcc.TCC, list *yaml.Node, prefix string) {
	for _, item := range p.items(list, "branches") {
		o := p.object(
			item, "branch", "id", "try", "confirm", "cancel", "do", "compensate", "assured", "branches",
			"after", "use", "payload", "policy",
		)
		id := o.part(prefix)
		if id == "" {
			continue
		}
		p.branch(t, o, id, prefix)
		order(o, t)
	}
}

// branch adds a branch of one of the four kinds.
func (p *parser) branch(t *tcc.TCC, o *object, id, prefix string) {
	kinds := 0
	for _, fields := range [][]string{{"try", "confirm", "cancel"}, {"do", "compensate"}, {"assured"}, {"branches"}} {
		if o.has(fields...) {
			kinds++
		}
	}
	if kinds != 1 {
		p.fail(o.node.Line, "branch %q: want try, confirm and cancel, or do and compensate, or assured, or branches", clip(id))
		return
	}
	inner, nested := o.get("branches", "branches")
	switch {
	case nested:
		other := tcc.New(id)
		p.branches(other, inner, prefix+id+"/")
		t.Nested(id, other)
	case o.has("assured"):
		t.Assured(id, o.target("assured", "confirm"))
	case o.has("do", "compensate"):
		t.Compensating(id, o.target("do", "do"), o.target("compensate", "undo"))
	default:
		t.Branch(id, o.target("try", "do"), o.target("confirm", "confirm"), o.target("cancel", "undo"))
	}
}
