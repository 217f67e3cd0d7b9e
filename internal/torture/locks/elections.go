package locks

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// elections sees the fail-overs of a set of servers, whoever has caused them: where a
// machine is busy a master is taken for gone that was only slow.
type elections struct {
	servers []*testenv.RedisServer
	masters int // as many as there are in good order
	excuses nemesis.Excuses
	tell    func(nemesis.Window)

	mu   sync.Mutex
	seen map[*testenv.RedisServer]opinion
	open *nemesis.Window // there may be a master too many, or one too few
}

// opinion is what a server has said of itself.
type opinion struct {
	master bool
	at     time.Duration // when it was asked
}

// watchMasters asks every server until ctx ends.
func (e *elections) watchMasters(ctx context.Context) {
	e.seen = make(map[*testenv.RedisServer]opinion)
	var all sync.WaitGroup
	for _, s := range e.servers {
		all.Go(func() {
			for sleep.For(ctx, askEvery) {
				at := history.Now()
				e.addOpinion(s, opinion{master: s.IsMaster(), at: at})
			}
		})
	}
	all.Wait()
	if e.open != nil {
		e.close()
	}
}

func (e *elections) addOpinion(s *testenv.RedisServer, now opinion) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, known := e.seen[s]
	if known && !before.master && now.master && e.open == nil {
		e.open = &nemesis.Window{
			Kind: "promotion", From: before.at, Excuses: e.excuses,
			Effect: nemesis.Effect{Evidence: s.Addr() + " has become a master"},
		}
	}
	e.seen[s] = now
	if e.open != nil && e.count() == e.masters {
		e.close()
	}
}

func (e *elections) count() (masters int) {
	for _, o := range e.seen {
		if o.master {
			masters++
		}
	}
	return masters
}

func (e *elections) close() {
	e.open.To = history.Now()
	e.tell(*e.open)
	e.open = nil
}
