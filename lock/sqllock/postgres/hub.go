package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bedrock-go/bedrock/internal/sleep"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

const (
	// expectedFor is for how long a name is known to be waited for, and renewedAfter when that is said once more. Once
	// in lookPause it is looked whether it is still known: somebody may have deleted the row.
	expectedFor  = time.Minute
	renewedAfter = 20 * time.Second
	lookPause    = 5 * time.Second
	// silence is how long nothing may be heard before the connection is tried, and answerTime how long that may take.
	silence    = 5 * time.Second
	answerTime = 5 * time.Second
	// retryPause is how long to wait before listening is tried again, and sparePause how often to look whether a pool
	// that was used up has room.
	retryPause = 200 * time.Millisecond
	sparePause = time.Second
	// mostBlind is for how many such pauses a pool is left alone at most whose room cannot be seen.
	mostBlind = 64
)

// channelOf is where releases are told.
func channelOf(table string) string { return table + "_wake" }

// payloadOf is what is told of a release of a name; of a turn, with its owner. Names that have the same are woken
// together.
func payloadOf(name, owner string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name + "\x00" + owner)) // it never fails
	return hex.EncodeToString(h.Sum(nil))
}

// tellWoken tells of what a step has changed.
func tellWoken(ctx context.Context, q rows.Querier, text, channel string, states []*ledger.State) error {
	for _, s := range states {
		var payloads []string
		if s == nil {
			continue
		}
		if s.Wakes.All {
			payloads = append(payloads, payloadOf(s.Name, ""))
		}
		if s.Wakes.Turn != "" {
			payloads = append(payloads, payloadOf(s.Name, s.Wakes.Turn))
		}
		for _, p := range payloads {
			if _, err := q.ExecContext(ctx, text, channel, p, s.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// hub listens on one connection for all watches of a client.
type hub struct {
	store   *remote.Store
	channel string
	texts   texts
	life    context.Context //nolint:containedctx // that of the hub itself
	end     context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	watches map[string]map[*watch]struct{}
	begun   bool
	listens bool
	refusal error              // why there is no listening at all, or not at this time
	changed chan struct{}      // closed when one of these has changed
	search  context.CancelFunc // of a connection to spare, nil while there is none
}

// watch is one listener.
type watch struct {
	hub           *hub
	name, payload string
	c             chan struct{}
	count         atomic.Uint64
}

func newHub(store *remote.Store) *hub {
	h := &hub{
		store: store, channel: channelOf(store.Layout.Table), texts: newTexts(store.Layout.Table),
		watches: make(map[string]map[*watch]struct{}), changed: make(chan struct{}),
	}
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// Watch implements [lockdriver.Waiter].
func (b *backend) Watch(ctx context.Context, name string, _ lockdriver.Kind) (lockdriver.Watch, error) {
	return b.hub.startWatch(ctx, name, payloadOf(name, ""))
}

// WatchTurn implements [lockdriver.TurnWaiter].
func (b *backend) WatchTurn(ctx context.Context, name, owner string) (lockdriver.Watch, error) {
	return b.hub.startWatch(ctx, name, payloadOf(name, owner))
}

func (h *hub) startWatch(ctx context.Context, name, payload string) (lockdriver.Watch, error) {
	if h.store.DB.Stats().MaxOpenConnections == 1 {
		return nil, fmt.Errorf(
			"%w: the pool has one connection, and listening would keep it", lockdriver.ErrUnsupported,
		)
	}
	if err := h.waitListening(ctx); err != nil {
		return nil, err
	}
	if err := h.expectName(ctx, name); err != nil {
		return nil, err
	}
	w := &watch{hub: h, name: name, payload: payload, c: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watches[payload] == nil {
		h.watches[payload] = make(map[*watch]struct{})
	}
	h.watches[payload][w] = struct{}{}
	if !h.listens { // it has broken off meanwhile: something may be missed
		w.wakeListener()
	}
	return w, nil
}

// expectName says that somebody waits for a name, which has a row from then on.
func (h *hub) expectName(ctx context.Context, name string) error {
	return h.store.InRoom(ctx, name, func(ctx context.Context) error { return h.expectInRoom(ctx, name) })
}

func (h *hub) expectInRoom(ctx context.Context, name string) error {
	return h.store.Run(ctx, func() error {
		done, err := h.store.DB.ExecContext(ctx, h.texts.expect, name, expectedFor.Microseconds())
		if err != nil {
			return h.store.Unwritten(err)
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		if err := h.store.Layout.Ensure(ctx, h.store.DB, name); err != nil {
			return h.store.Unwritten(err)
		}
		_, err = h.store.DB.ExecContext(ctx, h.texts.expect, name, expectedFor.Microseconds())
		return h.store.Unwritten(err)
	})
}

// waitListening waits until the hub listens, or it is known that it cannot now.
func (h *hub) waitListening(ctx context.Context) error {
	for {
		h.mu.Lock()
		if !h.begun && h.life.Err() == nil {
			h.begun = true
			h.work.Go(h.listenForReleases)
			h.work.Go(h.expectAgain)
		}
		listens, refusal, changed := h.listens, h.refusal, h.changed
		h.mu.Unlock()
		switch {
		case refusal != nil:
			return refusal
		case listens:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", lockdriver.ErrUnavailable, ctx.Err())
		case <-h.life.Done():
			return fmt.Errorf("%w: closed", lockdriver.ErrUnavailable)
		}
	}
}

func (h *hub) setListening(listens bool, refusal error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listens, h.refusal = listens, refusal
	close(h.changed)
	h.changed = make(chan struct{})
}

// listenForReleases goes on until the hub is closed, on one connection after the other, or it is known that nothing
// will ever be told.
func (h *hub) listenForReleases() {
	blind := 1
	for {
		err := h.listenOnce(h.life)
		var goesOn bool
		switch {
		case errors.Is(err, lockdriver.ErrUnsupported):
			h.setListening(false, err)
		case errors.Is(err, remote.ErrNoSpare):
			// Not ErrUnsupported, which others take for the last word.
			h.setListening(false, fmt.Errorf("%w: %w", lockdriver.ErrUnavailable, err))
			if !errors.Is(err, remote.ErrNoneCame) {
				blind = 1
			}
			goesOn = h.awaitRoom(blind)
			blind = min(2*blind, mostBlind)
			h.setListening(false, nil)
		default:
			blind = 1
			h.setListening(false, nil)
			goesOn = sleep.For(h.life, retryPause)
		}
		if !goesOn {
			return
		}
	}
}

// awaitRoom waits until the pool has two connections that nobody uses. It only looks: who takes the last one to see
// whether there is another keeps it from requests. That is for so many pauses: where a pool beneath has a limit, its
// room is not to be seen. Meanwhile those who wait are told to look themselves. It reports whether to go on.
func (h *hub) awaitRoom(pauses int) bool {
	for n := 1; sleep.For(h.life, sparePause); n++ {
		now := h.store.DB.Stats()
		if n >= pauses && (now.MaxOpenConnections == 0 || now.InUse+2 <= now.MaxOpenConnections) {
			return true
		}
		h.signalAll()
	}
	return false
}

func (h *hub) listenOnce(ctx context.Context) (err error) {
	conn, err := h.store.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := h.findSpare(ctx); err != nil {
		return err
	}
	defer h.store.KeepOne()()
	_ = conn.Raw(func(c any) error {
		own, ok := c.(*stdlib.Conn)
		if !ok {
			err = fmt.Errorf("%w: %T is no connection of pgx, and tells of nothing", lockdriver.ErrUnsupported, c)
			return nil
		}
		err = h.listenOn(ctx, own.Conn())
		cutConn(c) // nobody else should hear what is told on it
		return driver.ErrBadConn
	})
	return err
}

// findSpare is that of the store, as long as nobody renews a lease: in a pool of one it has the only connection.
func (h *hub) findSpare(ctx context.Context) error {
	search, end := context.WithCancel(ctx)
	h.setSearch(end)
	defer h.setSearch(nil)
	defer end()
	err := h.store.FindSpare(search)
	if err != nil && search.Err() != nil && ctx.Err() == nil {
		return remote.ErrNoneCame
	}
	return err
}

func (h *hub) setSearch(end context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.search = end
}

// endSearch ends the search for a connection to spare, which is taken up again later.
func (h *hub) endSearch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.search != nil {
		h.search()
	}
}

var errPooler = errors.New("there is a pooler on the way, behind which nothing is told")

func (h *hub) listenOn(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return err
	}
	if pid != conn.PgConn().PID() {
		return fmt.Errorf("%w: %w", lockdriver.ErrUnsupported, errPooler)
	}
	// Not before: the pooler's connection would go on with it.
	if _, err := conn.Exec(ctx, "LISTEN "+h.channel); err != nil {
		return err
	}
	h.setListening(true, nil)
	h.signalAll() // what was told before was missed
	for {
		if err := h.hearOne(ctx, conn); err != nil {
			return err
		}
	}
}

// hearOne waits for one message. After some silence it looks whether anybody is there.
func (h *hub) hearOne(ctx context.Context, conn *pgx.Conn) error {
	limit, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	n, err := conn.WaitForNotification(limit)
	switch {
	case err == nil:
		h.signalPayload(n.Payload)
		return nil
	case limit.Err() != nil && ctx.Err() == nil && !conn.IsClosed():
		limit, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		return conn.Ping(limit)
	}
	return err
}

// expectAgain looks from time to time what is still waited for, and says so where that is nearly over, or not known.
func (h *hub) expectAgain() {
	for sleep.For(h.life, lookPause) {
		names := h.watchedNames()
		if len(names) == 0 {
			continue
		}
		due, err := h.dueNames(names)
		if err != nil {
			continue // it is for the next time, as what fails below
		}
		for name, known := range due {
			if h.expectOne(name) == nil && !known {
				h.signalName(name) // nobody was told of releases since
			}
		}
	}
}

// dueNames returns those of names of which it should be said again that somebody waits, and whether that is known.
func (h *hub) dueNames(names []string) (due map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(h.life, answerTime)
	defer cancel()
	err = h.store.Run(ctx, func() error {
		due = make(map[string]bool)
		rows, err := h.store.DB.QueryContext(ctx, h.texts.due, names, (expectedFor - renewedAfter).Microseconds())
		if err != nil {
			return h.store.Unwritten(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var known bool
			if err := rows.Scan(&name, &known); err != nil {
				return err
			}
			due[name] = known
		}
		return h.store.Unwritten(errors.Join(rows.Err(), rows.Close()))
	})
	return due, err
}

// expectOne says that somebody waits for a name. One whose row is kept by somebody holds the others up only so long.
func (h *hub) expectOne(name string) error {
	ctx, cancel := context.WithTimeout(h.life, answerTime)
	defer cancel()
	return h.expectName(ctx, name)
}

func (h *hub) watchedNames() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, all := range h.watches {
		for w := range all {
			names = append(names, w.name)
			break
		}
	}
	return names
}

func (h *hub) signalPayload(payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watches[payload] {
		w.count.Add(1)
		w.wakeListener()
	}
}

func (h *hub) signalAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.watches {
		for w := range all {
			w.wakeListener()
		}
	}
}

func (h *hub) signalName(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.watches {
		for w := range all {
			if w.name == name {
				w.wakeListener()
			}
		}
	}
}

func (h *hub) close() error {
	h.end()
	h.work.Wait()
	return nil
}

func (w *watch) wakeListener() {
	select {
	case w.c <- struct{}{}:
	default:
	}
}

// C implements [lockdriver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Count implements [lockdriver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// Close implements [lockdriver.Watch].
func (w *watch) Close() {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches[w.payload], w)
	if len(h.watches[w.payload]) == 0 {
		delete(h.watches, w.payload)
	}
}
