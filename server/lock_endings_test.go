package server_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestAnOwnerThatComesAgainHasOneEnd: it gives back its first grant without the token, and its second with it.
func TestAnOwnerThatComesAgainHasOneEnd(t *testing.T) {
	c, seen := config(t), &lockRecorder{}
	c.LockObserver = seen
	s := serve(t, c, nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "me-1"}`).want(t, 200)
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me-1"}}`).want(t, 200)
	a := s.post(t, locks+"Acquire", `{"name": "a", "owner": "me-1"}`)
	token := regexp.MustCompile(`"token":"\d+"`).FindString(a.body)
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me-1", `+token+`}}`).want(t, 200)
	want := []string{"asked a", "granted a", "released a", "asked a", "granted a", "released a"}
	if !slices.Equal(seen.told, want) {
		t.Errorf("told %q, want %q", seen.told, want)
	}
}

// breaksOnce has the connection break once before the store has heard of a release: its outcome is not known.
type breaksOnce struct {
	driver.Backend

	broken atomic.Bool
}

func (b *breaksOnce) Release(ctx context.Context, g driver.Grant) (int, error) {
	if b.broken.CompareAndSwap(false, true) {
		return 0, errors.New("read: connection reset by peer")
	}
	return b.Backend.Release(ctx, g)
}

// TestABrokenReleaseIsNeverTold: nobody knows what it did, and it is repeated.
func TestABrokenReleaseIsNeverTold(t *testing.T) {
	c, seen := config(t), &lockRecorder{}
	c.LockObserver, c.Locks = seen, &breaksOnce{Backend: memlock.NewBackend(nil)}
	s := serve(t, c, nil)
	a := s.post(t, locks+"Acquire", `{"name": "a", "owner": "me-1"}`)
	token := regexp.MustCompile(`"token":"\d+"`).FindString(a.body)
	grant := `{"grant": {"name": "a", "owner": "me-1", ` + token + `}}`
	s.post(t, locks+"Release", grant).want(t, 500)
	s.post(t, locks+"Release", grant).want(t, 200)
	want := []string{"asked a", "granted a", "released a"}
	if !slices.Equal(seen.told, want) {
		t.Errorf("told %q, want %q", seen.told, want)
	}
}
