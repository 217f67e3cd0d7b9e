package daemon_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
)

// database is a MariaDB that a server reaches through a proxy, and what can happen
// to it.
type database struct {
	server *testenv.MariaDBServer
	proxy  *chaos.Proxy
	direct *sql.DB
}

func startDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{server: testenv.StartMariaDB(t, nil)}
	d.server.CreateDatabase("bedrock")
	var err error
	if d.proxy, err = chaos.New(d.server.Addr()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.proxy.Close() })
	if d.direct, err = sql.Open("mysql", d.server.DSN("bedrock")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.direct.Close() })
	return d
}

// store opens a store behind the proxy.
func (d *database) store(t *testing.T) driver.Store {
	t.Helper()
	url := strings.Replace(d.server.URL("bedrock"), d.server.Addr(), d.proxy.Addr(), 1)
	store, err := mysql.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// wait lets a fault last, or virtual time pass: there is no event to wait for.
func wait(d time.Duration) { <-time.After(d) }

// deadlocks says how many the database has resolved.
func (d *database) deadlocks(t *testing.T) (n int) {
	t.Helper()
	var name string
	if err := d.direct.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'").Scan(&name,
		&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// getInTheWay locks rows in the wrong order until its context ends.
func (d *database) getInTheWay(ctx context.Context) {
	for ctx.Err() == nil {
		tx, err := d.direct.BeginTx(ctx, nil)
		if err != nil {
			return
		}
		for _, query := range []string{
			"UPDATE bedrock_tx SET updated = updated WHERE finished = 0 ORDER BY id DESC LIMIT 5",
			"SELECT id FROM bedrock_tx ORDER BY id FOR UPDATE",
		} {
			if _, err = tx.ExecContext(ctx, query); err != nil {
				break
			}
		}
		_ = tx.Rollback()
	}
}

// deadlock gets in the way, a second at a time, until the database has resolved a
// deadlock: that is for those to meet who want the same rows.
func (d *database) deadlock(t *testing.T) {
	t.Helper()
	for before := d.deadlocks(t); d.deadlocks(t) == before && t.Context().Err() == nil; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		d.getInTheWay(ctx)
		cancel()
	}
}

// TestTheDatabaseMisbehaves: a real one is cut off, loses acknowledgements, stands
// still and deadlocks, while transactions are under way.
func TestTheDatabaseMisbehaves(t *testing.T) {
	t.Parallel()
	d := startDatabase(t)
	s := open(t, d.store(t))
	p := hire(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.RawQuery, "refuse") {
			w.WriteHeader(http.StatusConflict)
		}
	})
	n := 0
	for name, misbehave := range map[string]func(*testing.T){
		"cut off": func(*testing.T) { d.proxy.Cut(); wait(time.Second); d.proxy.Heal() },
		"black hole": func(*testing.T) {
			d.proxy.BlackHole(chaos.Replies)
			wait(time.Second)
			d.proxy.Heal()
		},
		"lost acknowledgement": func(*testing.T) {
			d.proxy.DropRepliesTo("bedrock_tx", 5)
			wait(300 * time.Millisecond)
		},
		"lost commit": func(*testing.T) { d.proxy.DropRepliesTo("commit", 5); wait(300 * time.Millisecond) },
		"stopped":     func(*testing.T) { d.server.Freeze(); wait(time.Second); d.server.Thaw() },
		"deadlocks":   d.deadlock,
	} {
		t.Run(name, func(t *testing.T) {
			w := &traffic{s: s, p: p, name: strings.ReplaceAll(name, " ", "-")}
			w.run(t, func() { misbehave(t) })
			n += w.sent
			w.check(t)
		})
	}
	var rows int
	if err := d.direct.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM bedrock_tx").Scan(&rows); err != nil ||
		rows != n {
		t.Errorf("%d rows of %d transactions, %v", rows, n, err)
	}
	if e, deadlocks := d.proxy.Evidence(),
		d.deadlocks(t); e.Cut == 0 || e.RepliesLost == 0 || e.BytesSwallowed == 0 || deadlocks == 0 {
		t.Errorf("not all faults have happened: %d deadlocks, %+v", deadlocks, e)
	}
}

// traffic is sagas that go on while something happens.
type traffic struct {
	s    *site
	p    *participants
	name string

	mu   sync.Mutex
	sent int
}

// run sends sagas from several clients, each until after the trouble is over.
func (w *traffic) run(t *testing.T, trouble func()) {
	t.Helper()
	over := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				w.send(t)
				select {
				case <-over:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	trouble()
	close(over)
	clients.Wait()
}

// send runs one saga. Every third is refused.
func (w *traffic) send(t *testing.T) {
	w.mu.Lock()
	i := w.sent
	w.sent++
	w.mu.Unlock()
	id, query, outcome := w.id(i), "", outcomeOf(i)
	if outcome == "rolled-back" {
		query = "?refuse"
	}
	body := fmt.Sprintf(`{"definition": {"id": "%[1]s", "mode": "saga", "steps": [
		{"id": "a", "action": "%[2]s/do", "compensate": "%[2]s/undo"},
		{"id": "b", "action": "%[2]s/do%[3]s", "compensate": "%[2]s/undo", "after": ["a"]}]}, "wait": true}`,
		id, w.p.URL, query)
	if a := w.s.post(t.Context(), t, "Submit", body); a.status != http.StatusOK || a.Result.Outcome != outcome {
		t.Errorf("%s: %d %.300s, want %s", id, a.status, a.body, outcome)
	}
}

func (w *traffic) id(i int) string { return fmt.Sprintf("%s-%d", w.name, i) }

func outcomeOf(i int) string {
	if i%3 == 2 {
		return "rolled-back"
	}
	return "committed"
}

// check compares what participants were told with what clients were told.
func (w *traffic) check(t *testing.T) {
	t.Helper()
	for i := range w.sent {
		id, undone := w.id(i), outcomeOf(i) == "rolled-back"
		if w.p.count(id, "a action") == 0 || w.p.count(id, "b action") == 0 ||
			(w.p.count(id, "a compensate") > 0) != undone {
			t.Errorf("%s was %s: %d and %d actions, %d compensations", id, outcomeOf(i),
				w.p.count(id, "a action"), w.p.count(id, "b action"), w.p.count(id, "a compensate"))
		}
	}
}
