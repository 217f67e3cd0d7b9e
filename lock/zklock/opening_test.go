package zklock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// openAtOnce makes a backend that is closed with the test, whether a server is there or not.
func openAtOnce(t testing.TB, opts *zklock.Options, servers ...string) driver.Backend {
	t.Helper()
	b, err := zklock.OpenBackend(servers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestABackendIsOpenedBeforeItsServer: requests say why there is no server, and go on when there is one.
func TestABackendIsOpenedBeforeItsServer(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	server.Kill()
	b := openAtOnce(t, nil, server.Addr())
	for range 2 {
		_, err := b.Acquire(ctxFor(t), request("a", "me:1"))
		if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "dial tcp") {
			t.Fatalf("no server: %v", err)
		}
	}
	server.Restart()
	var granted driver.Grant
	eventually(t, "it is granted", func() (done bool) {
		var err error
		granted, err = b.Acquire(ctxFor(t), request("a", "me:1"))
		if err != nil && !errors.Is(err, driver.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	mustRelease(t, b, granted)
	server.Kill()
	eventually(t, "it is told why there is no server", func() bool {
		_, err := b.Acquire(ctxFor(t), request("a", "me:2"))
		return err != nil && strings.Contains(err.Error(), "dial tcp")
	})
}

// TestARequestWaitsForTheFirstServer no longer than its context lasts, or the backend.
func TestARequestWaitsForTheFirstServer(t *testing.T) {
	t.Parallel()
	b := openAtOnce(t, &zklock.Options{Session: time.Hour}, testenv.SaysNothing(t))
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := b.Acquire(ended, request("a", "me:1"))
	if !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := b.Acquire(context.Background(), request("a", "me:1"))
		asked <- err
	}()
	_ = b.Close()
	if err := <-asked; !errors.Is(err, driver.ErrUnavailable) {
		t.Error(err)
	}
}
