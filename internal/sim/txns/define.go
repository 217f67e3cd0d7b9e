package txns

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn"
)

// define draws what a transaction asks for. It is made anew for each client that
// asks, so that none shares memory with another. Where slots are few nothing is called
// beside something else at the same instant: who gets the slot would be left to chance.
func define(r *sim.Rand, p *script, id string, begun bool) txn.Definition {
	f := definer{Rand: r, plan: p, targets: p.targets, limit: p.limit, id: id}
	d := f.drawDefinition(begun)
	if p.busy {
		d.Parallel = 1
	}
	return d
}

func (f *definer) drawDefinition(begun bool) txn.Definition {
	r := f.Rand
	switch {
	case begun && r.Chance(0.6):
		return txn.Definition{ID: f.id, Mode: "tcc", Timeout: f.Between(200*time.Millisecond, 5*time.Second)}
	case begun:
		return f.prepared()
	}
	if r.Chance(0.6) {
		return f.saga()
	}
	if r.Chance(0.6) {
		return f.tcc()
	}
	return f.message()
}

type definer struct {
	*sim.Rand
	plan    *script
	targets []target
	limit   time.Duration
	id      string
	base    int // of the targets
	sibling int
}

// target is one of them; siblings have different ones, as far as there are enough.
func (f *definer) target() txn.Target {
	t := f.targets[(f.base+f.sibling)%len(f.targets)].name
	f.base++
	return t
}

func (f *definer) policy() *txn.Policy {
	p := &txn.Policy{
		Timeout: f.limit + f.Between(0, time.Millisecond), Backoff: f.Between(50*time.Millisecond, time.Second),
		MaxBackoff: 4 * time.Second,
		Attempts:   sim.Pick(f.Rand, 0, 1, 1, 2, 2, 3, 10),
	}
	if p.Attempts > 0 && f.Chance(0.4) {
		p.Then = txn.Park
	}
	return p
}

func (f *definer) branches(fill func(b *txn.Branch)) (branches []txn.Branch) {
	first := f.IntN(len(f.targets))
	for i := range min(f.Number(1, 4), len(f.targets)) {
		f.base, f.sibling = first, i
		b := txn.Branch{ID: fmt.Sprintf("b%d", i), Policy: f.policy()}
		b.Payload = payload(f.id, b.ID)
		if i > 0 && f.Chance(0.4) && !f.plan.messy {
			b.After = []string{fmt.Sprintf("b%d", i-1)}
		}
		fill(&b)
		branches = append(branches, b)
	}
	return branches
}

func (f *definer) saga() txn.Definition {
	d := txn.Definition{ID: f.id, Mode: "saga", Name: "order", Headers: map[string]string{"X-Of": f.id}}
	if f.Chance(0.3) {
		d.Timeout = f.Between(500*time.Millisecond, 20*time.Second)
	} else if f.Chance(0.1) {
		d.Recovery = txn.Forward
	}
	d.Branches = f.branches(func(b *txn.Branch) {
		b.Do, b.Undo = f.target(), f.target()
		if (f.Chance(0.3) || f.plan.ambush && f.Chance(0.5)) && !f.plan.busy {
			b.Do, b.Undo = txn.Async(b.Do), ""
		}
		if f.Chance(0.1) {
			b.Undo = ""
		}
	})
	return d
}

func (f *definer) tcc() txn.Definition {
	d := txn.Definition{ID: f.id, Mode: "tcc", Name: "booking", Headers: map[string]string{"X-Of": f.id}}
	d.Timeout = f.Between(500*time.Millisecond, 20*time.Second)
	d.Branches = f.branches(func(b *txn.Branch) {
		b.Do, b.Confirm, b.Undo = f.target(), f.target(), f.target()
		if f.Chance(0.3) && !f.plan.busy {
			b.Confirm = txn.Async(b.Confirm)
		}
	})
	return d
}

func (f *definer) message() txn.Definition {
	d := txn.Definition{ID: f.id, Mode: "msg", Name: "news", Headers: map[string]string{"X-Of": f.id}}
	d.Branches = f.branches(func(b *txn.Branch) { b.Confirm, b.After, b.Policy.Then = f.target(), nil, "" })
	if f.Chance(0.2) {
		d.Delay = f.Between(0, 2*time.Second)
	}
	return d
}

// prepared is a message whose producer may be asked.
func (f *definer) prepared() txn.Definition {
	d := f.message()
	if f.Chance(0.5) {
		d.Check = &txn.Check{
			Target: f.target(), After: f.Between(100*time.Millisecond, 3*time.Second), Policy: f.policy(),
		}
		d.Check.Policy.Then = ""
	} else {
		d.Timeout = f.Between(200*time.Millisecond, 5*time.Second)
	}
	return d
}

// enlisted is a branch that joins later.
func enlisted(p *script, id string, n int) txn.Branch {
	f := definer{
		Rand: p.seed.Named(id).At(uint64(n)).Rand(), plan: p, targets: p.targets, limit: p.limit, id: id, base: n,
	}
	b := txn.Branch{ID: fmt.Sprintf("e%d", n), Confirm: f.target(), Undo: f.target(), Policy: f.policy()}
	b.Policy.Then = ""
	b.Payload = payload(id, b.ID)
	return b
}

// payload is what a branch's participant must be given.
func payload(id, branch string) []byte {
	h := fnv.New64a()
	fmt.Fprint(h, id, "/", branch)
	return fmt.Appendf(nil, `{"of":"%s/%s","sum":"%x"}`, id, branch, h.Sum64())
}
