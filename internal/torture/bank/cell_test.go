//go:build unix

package bank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/replicas"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// cell is one mode on one store.
type cell struct {
	t        *testing.T
	mode     string
	backend  backend
	seed     uint64
	store    driver.Store // the parent's own look at it
	replicas []*process
	service  *process
	co       *replicas.Coordinator
	http     *http.Client

	drawn    atomic.Int64
	underWay atomic.Int64
	ended    atomic.Int64

	mu   sync.Mutex
	told map[string]told
}

// told is what a client was told.
type told struct {
	transfer transfer
	result   txn.Result
	took     time.Duration
}

// newCell starts all processes of a cell.
func newCell(t *testing.T, mode string, b backend) *cell {
	t.Helper()
	c := &cell{
		t: t, mode: mode, backend: b, seed: rand.Uint64(), told: make(map[string]told),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}},
	}
	t.Cleanup(c.http.CloseIdleConnections)
	c.openStore()
	dir := t.TempDir()
	var urls []string
	for i := range b.replicas {
		name := fmt.Sprintf("replica%d", i+1)
		p := spawn(t, settings{
			Role: "replica", Name: name, Addr: newAddr(t), Store: b.url, Evidence: filepath.Join(dir, name+".evidence"),
		})
		c.replicas, urls = append(c.replicas, p), append(urls, p.url())
	}
	c.service = spawn(t, settings{
		Role: "service", Name: "service", Addr: newAddr(t), Replicas: urls,
		Accounts: filepath.Join(dir, "accounts.db"), Evidence: filepath.Join(dir, "service.evidence"),
	})
	co, err := dialReplicas(urls)
	if err != nil {
		t.Fatal(err)
	}
	c.co = co
	t.Cleanup(co.Close)
	return c
}

func (c *cell) openStore() {
	c.t.Helper()
	store, err := openStore(c.t.Context(), c.backend.url)
	if err != nil {
		c.t.Fatal(err)
	}
	c.store = store
	c.t.Cleanup(func() {
		if err := store.Close(); err != nil {
			c.t.Error(err)
		}
	})
}

// traffic lets the clients transfer money until ctx ends. What has begun then is
// brought to its end.
func (c *cell) traffic(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range clients {
		random := rand.New(rand.NewPCG(c.seed, uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil {
				c.transfer(draw(random, c.mode, int(c.drawn.Add(1))))
			}
		})
	}
	return &all
}

// transfer makes one transfer and writes down what the client is told.
func (c *cell) transfer(t transfer) {
	c.underWay.Add(1)
	defer c.underWay.Add(-1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*bound)
	defer cancel()
	began := time.Now()
	result, err := c.run(ctx, &t)
	if err != nil && result.Outcome != txn.RolledBack {
		c.t.Errorf("%s (%s): %v", t.ID, t.Fate, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[t.ID] = told{t, result, time.Since(began)}
	c.ended.Add(1)
}

func (c *cell) run(ctx context.Context, t *transfer) (txn.Result, error) {
	if c.mode == "msg" {
		return c.send(ctx, t)
	}
	d, err := t.definition(c.service.url())
	if err != nil {
		return txn.Result{}, err
	}
	return c.co.Run(ctx, d)
}

// send asks the producer for a message, as often as it takes to get an answer, and
// waits for its end.
func (c *cell) send(ctx context.Context, t *transfer) (txn.Result, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return txn.Result{}, err
	}
	for {
		err := c.post(ctx, body)
		if err == nil {
			return c.co.Wait(ctx, t.ID)
		}
		if !sleep.For(ctx, 20*time.Millisecond) {
			return txn.Result{}, err
		}
	}
}

func (c *cell) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.service.url()+"/send", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return errors.New(resp.Status)
	}
	return nil
}
