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

	mu    sync.Mutex
	used  int             // by requests
	kept  int             // for other things, as long as those last
	queue []chan struct{} // of requests that have none; one is closed when it has
}

// roomKey is that of the store in which the request of a context has room.
type roomKey struct{}

// InRoom makes a request when it may have a connection, and one more is left. What it does by the context that it is
// given has room, too.
func (s *Store) InRoom(ctx context.Context, request func(context.Context) error) error {
	own, err := s.takeRoom(ctx)
	if err != nil {
		return err
	}
	defer s.giveRoom(ctx)
	return request(own)
}

// takeRoom returns the context of a request that has room until giveRoom.
func (s *Store) takeRoom(ctx context.Context) (context.Context, error) {
	if ctx.Value(roomKey{}) == s {
		return ctx, nil
	}
	if err := s.room.takeOne(ctx); err != nil {
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

func (r *room) takeOne(ctx context.Context) error {
	r.mu.Lock()
	if len(r.queue) == 0 && r.used < r.most() {
		r.used++
		r.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	r.queue = append(r.queue, turn)
	r.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		r.giveUp(turn)
		return ctx.Err()
	}
}

// giveUp takes a request out of the queue, or gives back what it was given at this moment.
func (r *room) giveUp(turn chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.queue, turn); i >= 0 {
		r.queue = slices.Delete(r.queue, i, i+1)
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

// passOn gives those who have waited longest what there is. r.mu is held.
func (r *room) passOn() {
	for len(r.queue) > 0 && r.used < r.most() {
		close(r.queue[0])
		r.queue = r.queue[1:]
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
