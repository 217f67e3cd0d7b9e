package httpcall_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
)

// BenchmarkCall compares a call with what a bare http.Client does with the same
// number of bytes and headers. Both talk to the same server in this process, which
// costs about as much as either.
func BenchmarkCall(b *testing.B) {
	target := serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"id":1}`)
	})
	b.Run("caller", func(b *testing.B) {
		c := caller(b, nil)
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if a := c.Call(b.Context(), target, call()); a.Kind != txn.AnswerDone {
					b.Error(a)
				}
			}
		})
	})
	b.Run("bare", func(b *testing.B) {
		transport := &http.Transport{MaxIdleConnsPerHost: 512}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := post(b, client, string(target)); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// post is a call as one would write it by hand.
func post(b *testing.B, client *http.Client, url string) error {
	one := call()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(one.Payload))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "bedrock", "Bedrock-Transaction": one.Transaction,
		"Bedrock-Branch": one.Branch, "Bedrock-Operation": one.Op, "Bedrock-Mode": one.Mode, "Bedrock-Attempt": "1",
		"Bedrock-Epoch": "7", "Idempotency-Key": "order-1/pay/action",
	} {
		r.Header.Set(name, value)
	}
	reply, err := client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	_, err = io.ReadAll(reply.Body)
	return err
}
