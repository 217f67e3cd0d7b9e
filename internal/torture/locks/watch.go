package locks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/lock"
)

const (
	askEvery = 50 * time.Millisecond
	// inTime is how quickly a store has to answer so that a lost lease is not its fault.
	inTime = 150 * time.Millisecond
)

// watchBackend asks the backend all the time, and writes down when it does not answer in time:
// nobody has to do anything to it for that. It returns how to end it.
func (r *run) watchBackend() (end func(), err error) {
	if r.scene.url == "mem:" {
		return func() {}, nil
	}
	s, err := r.connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range hotNames {
		name := fmt.Sprintf("%shot/%d", r.scene.Prefix, i) // where a cluster may have other servers for each
		all.Go(func() {
			for sleep.For(ctx, askEvery) {
				r.askBackend(ctx, s, name)
			}
		})
	}
	if e := r.scene.elections; e != nil {
		e.tell = r.reportWindow
		all.Go(func() { e.watchMasters(ctx) })
	}
	all.Go(func() {
		history.Stalls(ctx, func(from, to time.Duration) { r.add(&event{Kind: kindStall, From: from, At: to}) })
	})
	return func() {
		cancel()
		all.Wait()
		closing, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		_ = s.Stop(closing) // it holds nothing
		s.hangUp()
	}, nil
}

func (r *run) askBackend(ctx context.Context, s *session, name string) {
	from := history.Now()
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := s.Inspect(limited, name)
	if took := history.Now() - from; ctx.Err() == nil && (took > inTime || err != nil) {
		r.add(&event{Kind: kindSlow, From: from, Text: textOf(err)})
	}
}

// connect is the controller's own client.
func (r *run) connect() (*session, error) {
	library := viaGoRedis
	if r.scene.libraries[0] == viaServer && r.scene.url == r.scene.front {
		library = viaServer
	}
	open, err := newOpener(target{URL: r.scene.url, Library: library}, nil)
	if err != nil {
		return nil, err
	}
	return open(lock.Options{Patience: 3 * time.Second})
}

// lookAround writes down what is left when everybody has gone.
func (r *run) lookAround(ctx context.Context) {
	if r.scene.url != "mem:" {
		if err := r.residue(ctx); err != nil {
			r.add(&event{Kind: kindDoubt, Text: fmt.Sprintf("what is left could not be seen: %v", err)})
		}
	}
	if r.scene.atRest == nil {
		return
	}
	for _, complaint := range r.scene.atRest(ctx) {
		r.add(&event{Kind: kindGone, Class: classFailed, Text: complaint})
	}
}

// residueMost is how many locks are looked at.
const residueMost = 1000

func (r *run) residue(ctx context.Context) error {
	s, err := r.connect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	defer s.hangUp()
	defer func() { _ = s.Stop(ctx) }()
	sleep.For(ctx, time.Second+r.scene.Slack) // locks that are kept for a least time
	infos, err := s.List(ctx, r.scene.Prefix, residueMost)
	if err != nil {
		return err
	}
	for _, i := range infos {
		for _, h := range i.Holders {
			r.add(&event{
				Kind: kindResidue, Name: i.Name, Owner: h.Owner, Token: i.Token, TTL: h.TTL, Text: h.Meta["pid"],
			})
		}
	}
	return nil
}
