package server_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// TestBundlesAreGrantedInPart: whoever speaks JSON has all of them or none, with the same words as for one.
func TestBundlesAreGrantedInPart(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"AcquireAll", `{"requests": [{"name": "b", "meta": {"by": "me"}}, {"name": "a", "ttl": "1m"}]}`).
		want(t, 200, `"name":"b"`, `"name":"a"`, `"ttl":"60s"`, `"ttl":"30s"`)
	s.post(t, locks+"Inspect", `{"name": "b"}`).want(t, 200, `"by":"me"`)
	s.post(t, locks+"AcquireAll", `{"requests": [{"name": "c"}, {"name": "a"}]}`).
		want(t, 409, "already_exists", `"name":"a"`, `"kind":"held"`, `\"a\": held by #`)
	s.post(t, locks+"Acquire", `{"name": "c"}`).want(t, 200)
}

// TestBundlesAreCheckedByTheStore, when something may have happened already.
func TestBundlesAreCheckedByTheStore(t *testing.T) {
	s := serve(t, config(t), nil)
	many := "[" + strings.Repeat(`{}, `, driver.MaxBundle) + "{}]"
	for list, want := range map[string]string{
		`[]`:                             "requests: is 0, allowed are 1 to 64",
		many:                             "requests: 65: at most 64",
		`[{"name": "a"}, {"name": "a"}]`: `requests: have the name \"a\" twice`,
		`[{"name": "a"}, {"name": "b", "mode": "shared"}]`: "requests: are for plain locks",
		`[{"name": "a"}, {"name": "b", "fair": true}]`:     "requests: are for plain locks",
		`[{"name": "a"}, {"name": "b", "wait": "1s"}]`:     "requests[1].wait: is for one lock",
		`[{"name": "a"}, {"name": ""}]`:                    "requests[1].name: is empty",
		`[{"name": "a"}, {"name": "b", "nme": "b"}]`:       "requests[1].nme: ",
		`[{"name": "a", "meta": {"x": 1}}]`:                "requests[0].meta: want texts",
		`[{"name": "a", "owner": "mode"}]`:                 "requests[0].owner: ",
		`[{"name": "a"}, 7]`:                               "requests[1]: want an object",
		`{"name": "a"}`:                                    "requests: want a list",
		`[], "name": "a"`:                                  "name: ",
		`[{"name": "a", "above": "1"}]`:                    "requests: are for plain locks",
		`[{"name": "a", "mode": "vote", "age": "1s"}]`:     "requests: are for plain locks",
		`[{"name": "a"}], "requests": [{"name": "b"}]`:     "requests: is there twice",
	} {
		s.post(t, locks+"AcquireAll", `{"requests": `+list+`}`).want(t, 400, "invalid_argument", want)
	}
	s.post(t, locks+"Browse", `{}`).want(t, 200, "{}")
}

// plain is a store with nothing that is optional.
type plain struct{ driver.Backend }

// apart is a store that has no two locks in one place.
type apart struct{ driver.Bundler }

func (apart) Together(names []string) bool { return len(names) == 1 }

// TestWhatTheStoreLacksIsAFailure of the server: it is told as what it is.
func TestWhatTheStoreLacksIsAFailure(t *testing.T) {
	memory := memlock.NewBackend(nil)
	s := serve(t, setup{Services: server.Services{Locks: plain{memory}}}, nil)
	for method, body := range map[string]string{
		"AcquireAll": `{"requests":[{"name":"a"}]}`, "Annotate": `{"grant":{"name":"a","owner":"o"}}`,
		"Downgrade": `{"grant":{"name":"a","owner":"o","mode":"write"}}`,
		"SetLatch":  `{"name":"a","count":1}`, "CountDown": `{"name":"a"}`, "LatchCount": `{"name":"a"}`,
		"DropLatch": `{"name":"a"}`, "Ask": `{"name":"a"}`,
	} {
		s.post(t, locks+method, body).want(t, 501, `"unimplemented"`, `"kind":"unsupported"`)
	}
	s = serve(t, setup{Services: server.Services{Locks: struct {
		driver.Backend
		apart
	}{memory, apart{memory.(driver.Bundler)}}}}, nil)
	s.post(t, locks+"AcquireAll", `{"requests":[{"name":"a"},{"name":"b"}]}`).want(t, 501, `"kind":"apart"`)
	s.post(t, locks+"AcquireAll", `{"requests":[{"name":"a"}]}`).want(t, 200)
}

// lateBundler answers after its caller has gone: the locks are granted, and with lost nobody is told.
type lateBundler struct {
	driver.Backend
	driver.Inspector

	asked    chan struct{}
	lost     bool
	releases atomic.Int32
}

func (*lateBundler) Together([]string) bool { return true }

func (l *lateBundler) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	grants, err := l.Backend.(driver.Bundler).AcquireAll(context.WithoutCancel(ctx), reqs)
	close(l.asked)
	<-ctx.Done()
	if l.lost {
		return nil, errors.Join(err, ctx.Err())
	}
	return grants, err
}

// Release does not answer at first.
func (l *lateBundler) Release(ctx context.Context, g driver.Grant) (int, error) {
	if l.releases.Add(1) <= 2 {
		return 0, driver.ErrUnavailable
	}
	return l.Backend.Release(ctx, g)
}

// TestDisconnectLeavesABundle: nobody knows the owners of what was granted.
func TestDisconnectLeavesABundle(t *testing.T) {
	for name, lost := range map[string]bool{"granted": false, "nobody knows": true} {
		t.Run(name, func(t *testing.T) {
			memory := memlock.NewBackend(nil)
			store := &lateBundler{
				Backend: memory, Inspector: memory.(driver.Inspector), asked: make(chan struct{}), lost: lost,
			}
			s := serve(t, setup{Services: server.Services{Locks: store}}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { <-store.asked; cancel() }()
			s.hang(ctx, locks+"AcquireAll", `{"requests":[{"name":"a","ttl":"24h"},{"name":"b","ttl":"24h"}]}`)
			eventually(t, func() bool {
				held, err := store.List(t.Context(), "", 9)
				return err == nil && len(held) == 0 && store.releases.Load() >= 4
			})
		})
	}
}

// TestABundleIsCountedAsOneLock by who watches the server: all its locks are granted, or refused.
func TestABundleIsCountedAsOneLock(t *testing.T) {
	c, seen := config(t), &lockRecorder{}
	c.LockObserver = seen
	s := serve(t, c, nil)
	s.post(t, locks+"AcquireAll", `{"requests": [{"name": "a"}, {"name": "b"}]}`).want(t, 200)
	s.post(t, locks+"AcquireAll", `{"requests": [{"name": "c"}, {"name": "b"}]}`).want(t, 409)
	want := []string{
		"asked a", "asked b", "granted a", "granted b", "asked c", "asked b", "refused c", "refused b",
	}
	if !slices.Equal(seen.told, want) {
		t.Errorf("told %q, want %q", seen.told, want)
	}
}

// TestWriterBecomesAReader, and nobody else does.
func TestWriterBecomesAReader(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "me", "mode": "write"}`).want(t, 200)
	for grant, problem := range map[string]string{
		`{"name": "a", "owner": "me"}`:                   "mode: is exclusive, only a grant to write becomes",
		`{"name": "a", "owner": "me", "mode": "shared"}`: "mode: is shared, only a grant to write becomes",
		`{"name": "a", "mode": "write"}`:                 "grant.owner: is empty",
	} {
		s.post(t, locks+"Downgrade", `{"grant": `+grant+`}`).want(t, 400, problem)
	}
	s.post(t, locks+"Downgrade", `{"grant": {"name": "a", "owner": "you", "mode": "write"}}`).
		want(t, 409, `"kind":"lost"`)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "you", "mode": "shared"}`).want(t, 409)
	s.post(t, locks+"Downgrade", `{"grant": {"name": "a", "owner": "me", "mode": "write"}}`).want(t, 200, "{}")
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "you", "mode": "shared"}`).want(t, 200)
}

// TestNotesBesideAGrantAreAnybodys: only its owner knows the key to it.
func TestNotesBesideAGrantAreAnybodys(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "me", "meta": {"step": "1"}}`).want(t, 200)
	s.post(t, locks+"Annotate", `{"grant": {"name": "a", "owner": "me"}, "meta": {"step": "2"}}`).want(t, 200, "{}")
	s.post(t, locks+"Inspect", `{"name": "a"}`).want(t, 200, `"step":"2"`)
	s.post(t, locks+"Annotate", `{"grant": {"name": "a", "owner": "you"}, "meta": {"step": "3"}}`).
		want(t, 409, `"kind":"lost"`)
	s.post(t, locks+"Annotate", `{"grant": {"name": "a", "owner": "me"}, "meta": "`+strings.Repeat("m", 4097)+`"}`).
		want(t, 400, "meta: is 4097 bytes long")
	s.post(t, locks+"Annotate", `{"grant": {"name": "a"}, "meta": ""}`).want(t, 400, "grant.owner: is empty")
	s.post(t, locks+"Inspect", `{"name": "a"}`).want(t, 200, `"step":"2"`)
}
