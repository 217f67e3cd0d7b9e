package server_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// frozen is a store that reads requests and does not answer: their time runs out on the way.
type frozen struct{ driver.Backend }

var errFrozen = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}

func (frozen) Acquire(context.Context, driver.Request) (driver.Grant, error) {
	return driver.Grant{}, errFrozen
}

// Release answers the clean-up, which knows another owner, so that the server can end.
func (f frozen) Release(ctx context.Context, g driver.Grant) (int, error) {
	if g.Owner == "known" {
		return 0, errFrozen
	}
	return f.Backend.Release(ctx, g)
}

// The server asks for no locks in one step that are not together.
func (frozen) Together([]string) bool { return true }

func (frozen) AcquireAll(context.Context, []driver.Request) ([]driver.Grant, error) {
	return nil, errFrozen
}
func (frozen) Annotate(context.Context, driver.Grant, string) error        { return errFrozen }
func (frozen) Downgrade(context.Context, driver.Grant) error               { return errFrozen }
func (frozen) SetLatch(context.Context, string, string, int) (bool, error) { return false, errFrozen }
func (frozen) CountDown(context.Context, string, string, int) (int, error) { return 0, errFrozen }
func (frozen) LatchCount(context.Context, string) (int, error)             { return 0, errFrozen }
func (frozen) DropLatch(context.Context, string) (bool, error)             { return false, errFrozen }
func (frozen) Plead(context.Context, string, driver.Plea) (int, error)     { return 0, errFrozen }

func (frozen) ForceRelease(context.Context, string) (bool, error) { return false, errFrozen }

func (frozen) Inspect(context.Context, string) (driver.Info, error)     { return driver.Info{}, errFrozen }
func (frozen) List(context.Context, string, int) ([]driver.Info, error) { return nil, errFrozen }
func (frozen) Check(context.Context) ([]driver.Finding, error)          { return nil, errFrozen }
func (frozen) Identity(context.Context) (string, error)                 { return "", errFrozen }
func (frozen) Watch(context.Context, string, driver.Kind) (watch driver.Watch, _ error) {
	return watch, errFrozen
}

func serveFrozen(t *testing.T) *site {
	t.Helper()
	return serve(t, setup{Services: server.Services{Locks: frozen{memlock.NewBackend(nil)}}}, nil)
}

// TestASilentStoreIsToldAsAFailureOfTheServer: what may have been granted or released is told
// as in doubt, and what changes nothing as something to ask again for.
func TestASilentStoreIsToldAsAFailureOfTheServer(t *testing.T) {
	s := serveFrozen(t)
	for method, body := range map[string]string{
		"Acquire": `{"name":"a"}`, "Release": `{"grant":{"name":"a","owner":"known"}}`,
		"ForceRelease": `{"name":"a","reason":"r"}`, "AcquireAll": `{"requests":[{"name":"a"}]}`,
		"Annotate":  `{"grant":{"name":"a","owner":"known"}}`,
		"Downgrade": `{"grant":{"name":"a","owner":"known","mode":"write"}}`,
		"SetLatch":  `{"name":"a","count":1}`,
		"CountDown": `{"name":"a"}`, "DropLatch": `{"name":"a"}`, "Ask": `{"name":"a"}`,
	} {
		a := s.post(t, locks+method, body)
		a.want(t, 500, `"unknown"`, `"kind":"in_doubt"`, "may have taken effect")
	}
	for method, body := range map[string]string{
		"Inspect": `{"name":"a"}`, "Browse": `{}`, "Diagnose": `{}`, "Identify": `{}`,
		"LatchCount": `{"name":"a"}`,
	} {
		s.post(t, locks+method, body).want(t, 503, `"unavailable"`, `"kind":"unavailable"`)
	}
	listening := s.listen(t, "a")
	if told := listening.message(t); !strings.Contains(told, `"unavailable"`) {
		t.Errorf("who listens is told %s", told)
	}
}

// TestADoubtOfTheStoreIsOneOfTheClient: a class that says what happened would have it ask again
// while the lock stands.
func TestADoubtOfTheStoreIsOneOfTheClient(t *testing.T) {
	c, err := client.Dial(serveFrozen(t).url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := c.Backend()
	defer b.Close()
	_, acquire := b.Acquire(t.Context(), driver.Request{Name: "a", Owner: "o", TTL: driver.MaxTTL, Tokens: 1})
	_, all := b.(driver.Bundler).AcquireAll(t.Context(),
		[]driver.Request{{Name: "a", Owner: "o", TTL: driver.MaxTTL, Tokens: 1}})
	_, down := b.(driver.Latches).CountDown(t.Context(), "a", "id", 1)
	_, release := b.Release(t.Context(), driver.Grant{Name: "a", Owner: "known"})
	for what, err := range map[string]error{
		"acquire": acquire, "release": release, "acquire all": all, "count down": down,
	} {
		for _, class := range []error{driver.ErrHeld, driver.ErrLost, driver.ErrRefused, driver.ErrUnavailable} {
			if err == nil || errors.Is(err, class) {
				t.Errorf("%s: told as %v", what, err)
			}
		}
	}
	for _, err := range []error{acquire, all} {
		if !errors.Is(err, driver.ErrSpent) {
			t.Errorf("the owner may be asked for again: %v", err)
		}
	}
}
