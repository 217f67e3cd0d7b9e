package remote

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
)

// room keeps requests from taking all connections of a pool. Each may have to wait for a row, as long as somebody has
// that; who renews leases, whose rows are others, must find a connection all the while.
type room struct {
	db *sql.DB

	mu     sync.Mutex
	used   int                        // by requests
	kept   int                        // for other things, as long as those last
	queues map[string][]chan struct{} // by name, of requests that have none; one is closed when it has
	turns  []string                   // those names: however many want one, another waits for one of them only
}

// roomKey is that of the store in which the request of a context has room.
type roomKey struct{}

// InRoom makes a request about a name when it may have a connection, and one more is left. What it does by the context
// that it is given has room, too.
func (s *Store) InRoom(ctx context.Context, name string, request func(context.Context) error) error {
	own, err := s.takeRoom(ctx, name)
	if err != nil {
		return err
	}
	defer s.giveRoom(ctx)
	return request(own)
}

// takeRoom returns the context of a request that has room until giveRoom.
func (s *Store) takeRoom(ctx context.Context, name string) (context.Context, error) {
	if ctx.Value(roomKey{}) == s {
		return ctx, nil
	}
	if err := s.room.takeOne(ctx, name); err != nil {
		return ctx, keeper.Unavailable(err)
	}
	return context.WithValue(ctx, roomKey{}, s), nil
}

// giveRoom ends what takeRoom began with a context.
func (s *Store) giveRoom(ctx context.Context) {
	if ctx.Value(roomKey{}) != s {
		s.room.count(-1, 0)
	}
}

// KeepOne says that a connection of the pool is kept, by whoever calls end when it is not any more.
func (s *Store) KeepOne() (end func()) {
	s.room.count(0, 1)
	return func() { s.room.count(0, -1) }
}

func (r *room) takeOne(ctx context.Context, name string) error {
	r.mu.Lock()
	if len(r.turns) == 0 && r.used < r.most() {
		r.used++
		r.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	r.enqueue(name, turn)
	r.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		r.giveUp(name, turn)
		return ctx.Err()
	}
}

// giveUp takes a request out of the queue, or gives back what it was given at this moment.
func (r *room) giveUp(name string, turn chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.queues[name], turn); i >= 0 {
		r.setQueue(name, slices.Delete(r.queues[name], i, i+1))
		return
	}
	r.used--
	r.passOn()
}

func (r *room) count(used, kept int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used += used
	r.kept += kept
	r.passOn()
}

// enqueue has a request wait for a name's turn. r.mu is held.
func (r *room) enqueue(name string, turn chan struct{}) {
	if r.queues == nil {
		r.queues = make(map[string][]chan struct{})
	}
	if len(r.queues[name]) == 0 {
		r.turns = append(r.turns, name)
	}
	r.queues[name] = append(r.queues[name], turn)
}

// setQueue enters what is left of the queue of a name. r.mu is held.
func (r *room) setQueue(name string, left []chan struct{}) {
	if len(left) > 0 {
		r.queues[name] = left
		return
	}
	delete(r.queues, name)
	r.turns = slices.DeleteFunc(r.turns, func(other string) bool { return other == name })
}

// passOn gives one name after the other what there is, and of a name who has waited longest. r.mu is held.
func (r *room) passOn() {
	for len(r.turns) > 0 && r.used < r.most() {
		name := r.turns[0]
		r.turns = append(r.turns[1:], name)
		close(r.queues[name][0])
		r.setQueue(name, r.queues[name][1:])
		r.used++
	}
}

// most is how many requests may have a connection: one at least, also where none is left then.
func (r *room) most() int {
	size := r.db.Stats().MaxOpenConnections
	if size <= 0 {
		return math.MaxInt
	}
	return max(1, size-r.kept-1)
}
