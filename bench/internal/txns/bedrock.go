package txns

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/bedrock-go/bedrock/bench/internal/engine"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/orders"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/txn"
)

// bedrockSystem is Bedrock's server, once or several times on one store.
type bedrockSystem struct {
	bed      *bed
	place    *place
	replicas []*engine.Process
	clients  []*client.Client // one for each replica
}

func (b *bed) startBedrock(ctx context.Context, s Subject, profile string) (system, error) {
	p, err := b.place(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	system := &bedrockSystem{bed: b, place: p}
	for n := range s.Replicas {
		err := system.addReplica(ctx, engine.Job{
			Store: s.Store, Place: p.url, Replica: strconv.Itoa(n + 1), Serve: true, Profile: numbered(profile, n),
		})
		if err != nil {
			return nil, errors.Join(err, system.stop())
		}
	}
	return system, nil
}

// numbered keeps the profiles of replicas apart.
func numbered(profile string, n int) string {
	if profile == "" || n == 0 {
		return profile
	}
	return fmt.Sprintf("%s.%d", profile, n+1)
}

// addReplica starts a replica and a client of it.
func (s *bedrockSystem) addReplica(ctx context.Context, job engine.Job) error {
	replica, err := engine.Start(ctx, job)
	if err != nil {
		return err
	}
	s.replicas = append(s.replicas, replica)
	c, err := client.Dial(replica.URL, nil)
	if err != nil {
		return err
	}
	s.clients = append(s.clients, c)
	return nil
}

// of spreads clients over the replicas.
func (s *bedrockSystem) of(client int) txn.Coordinator { return s.clients[client%len(s.clients)] }

func (s *bedrockSystem) doer(m mode, addr string) (load.Do, error) {
	switch m {
	case saga:
		return s.run(orders.Saga(addr)), nil
	case tcc:
		return s.run(orders.TCC(addr)), nil
	case ownTries:
		return s.ownTries(addr), nil
	case message:
		d := orders.Message(addr)
		return func(ctx context.Context, client int) error { return complete(ctx, s.of(client), d, nil) }, nil
	default:
		return nil, unfit("bedrock", m)
	}
}

// run submits and waits.
func (s *bedrockSystem) run(d txn.Definition) load.Do {
	return func(ctx context.Context, client int) error {
		_, err := s.of(client).Run(ctx, d)
		return err
	}
}

// ownTries enlists each branch before it makes its try.
func (s *bedrockSystem) ownTries(addr string) load.Do {
	branches := orders.Branches(addr)
	tries := []string{participants.First(addr, "try"), participants.Last(addr, "try")}
	return func(ctx context.Context, client int) error {
		co := s.of(client)
		return complete(ctx, co, orders.OwnTries(), func(id string) error {
			for i, b := range branches {
				if err := co.Enlist(ctx, id, b); err != nil {
					return err
				}
				if err := post(ctx, s.bed.client, tries[i], []byte(orders.Payload)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// complete begins a transaction, does what belongs to it, commits and waits.
func complete(ctx context.Context, co txn.Coordinator, d txn.Definition, work func(id string) error) error {
	id, err := co.Begin(ctx, d)
	if err != nil {
		return err
	}
	if work != nil {
		if err := work(id); err != nil {
			return err
		}
	}
	if err := co.Commit(ctx, id); err != nil {
		return err
	}
	_, err = co.Wait(ctx, id)
	return err
}

func (s *bedrockSystem) submitSaga(ctx context.Context, client, _ int, addr string) error {
	_, err := s.of(client).Submit(ctx, orders.Saga(addr))
	return err
}

// finished counts all committed sagas: nothing else is ever run where it is asked.
func (s *bedrockSystem) finished(_ context.Context, _ int) (int, error) {
	var committed int64
	for _, replica := range s.replicas {
		state, err := replica.State()
		if err != nil {
			return 0, err
		}
		if state.Others > 0 {
			return 0, fmt.Errorf("%d sagas ended otherwise than committed", state.Others)
		}
		committed += state.Committed
	}
	return int(committed), nil
}

func (s *bedrockSystem) processes() (coordinator, store []int) {
	for _, replica := range s.replicas {
		coordinator = append(coordinator, replica.ID())
	}
	return coordinator, s.place.processes()
}

func (s *bedrockSystem) stop() error {
	var errs []error
	for _, c := range s.clients {
		c.Close()
	}
	for _, replica := range s.replicas {
		errs = append(errs, replica.Stop())
	}
	s.place.drop()
	return errors.Join(errs...)
}

// embeddedEngine is a coordinator whose callers are in its own process.
type embeddedEngine struct {
	*engine.Process
	place *place
}

func (b *bed) startEngine(ctx context.Context, store, profile string) (*embeddedEngine, error) {
	p, err := b.place(ctx, store)
	if err != nil {
		return nil, err
	}
	process, err := engine.Start(ctx, engine.Job{Store: store, Place: p.url, Replica: "1", Profile: profile})
	if err != nil {
		p.drop()
		return nil, err
	}
	return &embeddedEngine{Process: process, place: p}, nil
}

func (e *embeddedEngine) stop() error {
	defer e.place.drop()
	return e.Stop()
}
