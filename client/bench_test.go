package client_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// instant is a coordinator that does nothing: what is left is the wire.
type instant struct{ txn.Coordinator }

func (instant) Run(_ context.Context, d txn.Definition) (txn.Result, error) {
	return txn.Result{ID: d.ID, Outcome: txn.Committed}, nil
}

// BenchmarkRun measures submit and wait over the wire, both sides in one process,
// with 64 clients.
func BenchmarkRun(b *testing.B) {
	protocols := map[string]func(*http.Protocols){
		"http1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"h2c":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	}
	for name, set := range protocols {
		b.Run(name, func(b *testing.B) {
			s := serve(b, instantHandler(b))
			t := &http.Transport{Protocols: new(http.Protocols), MaxIdleConnsPerHost: 512, DisableCompression: true}
			set(t.Protocols)
			c := dial(b, s.url(), &client.Options{HTTP: &http.Client{Transport: t}})
			order := saga.New("order").Step("stock", "stock", "stock.undo").Step("pay", "pay", "pay.undo")
			b.SetParallelism(64 / 2)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := order.Run(b.Context(), c, map[string]int{"n": 1}); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
