//go:build unix

package client_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func benchSaga() *saga.Saga {
	return saga.New("order").Step("stock", "stock", "stock.undo").Step("pay", "pay", "pay.undo")
}

// BenchmarkRun measures submit and wait over the wire for 64 callers, both sides in
// one process: with a coordinator that does nothing (over the client's own connections
// and those of the standard library), with the engine on a store in memory, and the
// same bytes over bare HTTP.
func BenchmarkRun(b *testing.B) {
	b.Run("client/own", func(b *testing.B) {
		c := dial(b, serve(b, instantHandler(b)).url(), nil)
		order := benchSaga()
		flood(b, func() error { _, err := order.Run(b.Context(), c, map[string]int{"n": 1}); return err })
	})
	for name, set := range map[string]func(*http.Protocols){
		"http1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"h2c":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t := &http.Transport{Protocols: new(http.Protocols), MaxIdleConnsPerHost: 512, DisableCompression: true}
		set(t.Protocols)
		b.Run("client/"+name, func(b *testing.B) {
			c := dial(b, serve(b, instantHandler(b)).url(), &client.Options{HTTP: &http.Client{Transport: t}})
			order := benchSaga()
			flood(b, func() error { _, err := order.Run(b.Context(), c, map[string]int{"n": 1}); return err })
		})
		b.Run("engine/"+name, func(b *testing.B) {
			nothing := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
			co := engine(b, map[string]txn.Func{
				"stock": nothing, "stock.undo": nothing, "pay": nothing, "pay.undo": nothing,
			})
			h := handler(b, co, func(o *server.Options) { o.Limits = &server.Limits{Rate: -1} })
			c := dial(b, serve(b, h).url(), &client.Options{HTTP: &http.Client{Transport: t}})
			order := benchSaga()
			flood(b, func() error { _, err := order.Run(b.Context(), c, map[string]int{"n": 1}); return err })
		})
		b.Run("bare/"+name, func(b *testing.B) {
			url, body := serve(b, http.HandlerFunc(bare)).url(), benchBody(b)
			caller := &http.Client{Transport: t}
			flood(b, func() error { return post(b.Context(), caller, url, body) })
			t.CloseIdleConnections()
		})
	}
}

func benchBody(b *testing.B) []byte {
	b.Helper()
	d, err := benchSaga().ID("0123456789").Definition(map[string]int{"n": 1})
	if err != nil {
		b.Fatal(err)
	}
	m, err := apiwire.Definition(&d)
	if err != nil {
		b.Fatal(err)
	}
	body, err := proto.Marshal(&bedrockv1.SubmitRequest{Definition: m, Wait: true})
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func bare(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = w.Write([]byte("an answer of about the same length"))
}

func post(ctx context.Context, c *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Body.Close()
}

// flood makes calls from 64 goroutines and reports the processor time each takes,
// which other programs on the machine change less than the rate.
func flood(b *testing.B, call func() error) {
	b.Helper()
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	before := processorTime()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := call(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLock measures a lock taken and given back over the wire.
func BenchmarkLock(b *testing.B) {
	h, err := server.New(server.Services{Locks: memlock.NewBackend(nil)},
		&server.Options{Limits: &server.Limits{Rate: -1}})
	if err != nil {
		b.Fatal(err)
	}
	locks, err := lock.New(dial(b, serve(b, h).url(), nil).Backend(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = locks.Stop(context.Background()) }()
	m := locks.Mutex("a", nil)
	b.ReportAllocs()
	for b.Loop() {
		lease, err := m.Lock(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Unlock(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHandOver measures how long it takes from the call of Unlock of one client of a server to the return of
// another's Lock, who waits: the median of all times that the lock went from one to the other. Both are near, or their
// messages take a time each way.
func BenchmarkHandOver(b *testing.B) {
	for _, distance := range []time.Duration{0, 5 * time.Millisecond} {
		b.Run("distance="+distance.String(), func(b *testing.B) {
			h, err := server.New(server.Services{Locks: memlock.NewBackend(nil)},
				&server.Options{Limits: &server.Limits{Rate: -1}})
			if err != nil {
				b.Fatal(err)
			}
			way, err := chaos.New(serve(b, h).addr)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = way.Close() })
			way.Delay(distance)
			handOver(b, "http://"+way.Addr())
		})
	}
}

// handOver has two clients of a server take a lock by turns.
func handOver(b *testing.B, url string) {
	b.Helper()
	var (
		taken    handOvers
		going    sync.WaitGroup
		starting = time.Now()
	)
	for id := range 2 {
		locks, err := lock.New(dial(b, url, nil).Backend(), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = locks.Stop(context.Background()) })
		going.Go(func() {
			for range b.N {
				if err := taken.takeOnce(b.Context(), locks.Mutex("a", nil), id); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	going.Wait()
	slices.Sort(taken.took)
	if n := len(taken.took); n > 0 {
		b.ReportMetric(float64(taken.took[n/2].Microseconds()), "median-µs")
		b.ReportMetric(float64(n)/float64(2*b.N), "handed-over/lock")
	}
	b.ReportMetric(float64(2*b.N)/time.Since(starting).Seconds(), "locks/s")
}

// handOvers are the times that a lock took from one holder to another. Who holds the lock guards it.
type handOvers struct {
	holder int
	freed  time.Time
	took   []time.Duration
}

// takeOnce has the lock for a moment.
func (h *handOvers) takeOnce(ctx context.Context, m *lock.Mutex, id int) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	if h.holder != id && !h.freed.IsZero() {
		h.took = append(h.took, time.Since(h.freed))
	}
	for held := time.Now(); time.Since(held) < 300*time.Microsecond; {
		runtime.Gosched()
	}
	h.holder, h.freed = id, time.Now()
	return lease.Unlock(ctx)
}
