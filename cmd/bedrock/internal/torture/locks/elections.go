package locks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/testenv"
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

// watch asks every server until ctx ends.
func (e *elections) watch(ctx context.Context) {
	e.seen = make(map[*testenv.RedisServer]opinion)
	var all sync.WaitGroup
	for _, s := range e.servers {
		all.Go(func() {
			for nemesis.Sleep(ctx, askEvery) {
				at := history.Now()
				e.note(s, opinion{master: isMaster(s), at: at})
			}
		})
	}
	all.Wait()
	if e.open != nil {
		e.close()
	}
}

// isMaster asks a server for its own opinion. One that is not there is no master; one
// that is frozen is asked until it answers, or is killed.
func isMaster(s *testenv.RedisServer) bool {
	reply, err := s.Try("ROLE")
	list, ok := reply.([]any)
	return err == nil && ok && len(list) > 0 && fmt.Sprint(list[0]) == "master"
}

func (e *elections) note(s *testenv.RedisServer, now opinion) {
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
