package etcdlock_test

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// TestTokensOfARevisionEndBeforeThoseOfTheNext: what is told of the tokens that were given out is neither below those
// of the holder nor among those of who comes next, whatever the revision is.
func TestTokensOfARevisionEndBeforeThoseOfTheNext(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	odd := make(map[bool]bool)
	for range 4 {
		req := request("a", 1)
		req.Tokens = driver.MaxTokens
		g := mustAcquire(t, b, req)
		revision := createdOf(t, client, "a")
		odd[revision%2 == 1] = true
		info, err := b.(driver.Inspector).Inspect(contextFor(t, soon), "a")
		if err != nil {
			t.Fatal(err)
		}
		last, next := g.Token+uint64(g.Tokens)-1, uint64(revision+1)<<20
		if info.Token < last || info.Token >= next {
			t.Errorf("revision %d: shown as %d, want %d or more and less than %d", revision, info.Token, last, next)
		}
		_, err = b.Acquire(contextFor(t, soon), driver.Request{
			Name: "a", Owner: "other:1", TTL: req.TTL, Tokens: 1, Fair: true,
		})
		if refusal, ok := errors.AsType[*driver.HeldError](err); !ok || refusal.Token < last {
			t.Errorf("revision %d: refused by %+v, %v; want a token of %d or more", revision, refusal, err, last)
		}
		mustRelease(t, b, g)
		if _, err := client.Put(contextFor(t, soon), "other", "raises the revision"); err != nil {
			t.Fatal(err)
		}
	}
	if len(odd) < 2 {
		t.Error("all revisions were even, or odd")
	}
}

// createdOf returns the revision at which the only key of a lock was made.
func createdOf(t *testing.T, client *clientv3.Client, name string) int64 {
	t.Helper()
	resp, err := client.Get(contextFor(t, soon), etcdlock.DefaultPrefix+name+"/", clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("%+v, %v", resp, err)
	}
	return resp.Kvs[0].CreateRevision
}
