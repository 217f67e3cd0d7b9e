package daemon_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// wantScraped waits until the metrics of a server have those lines: some are told beside the answers.
func wantScraped(t *testing.T, address string, lines ...string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		text := "\n" + scrape(t, address)
		missing := ""
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line+"\n") {
				missing = line
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("no %s in\n%s", missing, text)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestWhoGivesUpLosesALock that it never had: its waits end by releases, for nobody knows what was granted meanwhile.
func TestWhoGivesUpLosesALock(t *testing.T) {
	address := run(t, nil)
	clients := make([]*lock.Client, 2)
	for i := range clients {
		var err error
		if clients[i], err = lock.New(dial(t, address).Backend(), nil); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := clients[0].Mutex("a", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := clients[1].Mutex("a", &lock.MutexOptions{Fair: i%2 == 0}).Lock(short)
		cancel()
		if err == nil {
			t.Fatal("two have it")
		}
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	for _, c := range clients {
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	wantScraped(t, address, "bedrock_lock_lost_total 0", `bedrock_lock_left_total{reason="lost"} 0`,
		`bedrock_lock_left_total{reason="unlocked"} 1`, "bedrock_lock_acquired_total 1", "bedrock_lock_queued 0")
}

// TestALockThatIsPassedOnLeavesTheQueueTwice: its request was refused before.
func TestALockThatIsPassedOnLeavesTheQueueTwice(t *testing.T) {
	address := run(t, nil)
	first, second := dial(t, address).Backend(), dial(t, address).Backend()
	t.Cleanup(func() { _, _ = first.Close(), second.Close() })
	passed := make(chan driver.Grant, 1)
	successor := second.(driver.Successor)
	successor.Inherit(func(g driver.Grant) { passed <- g })
	g, err := first.Acquire(t.Context(), driver.Request{Name: "a", Owner: "one:1", TTL: time.Minute, Tokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	standIn(t, successor, driver.Request{Name: "a", Owner: "two:1", TTL: time.Minute, Tokens: 1})
	if _, err := first.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	<-passed
	wantScraped(t, address, "bedrock_lock_acquired_total 2", "bedrock_lock_queued 0")
}

// standIn asks until the request stands, which it does when the client hears of what it is granted.
func standIn(t *testing.T, s driver.Successor, req driver.Request) {
	t.Helper()
	for {
		_, err := s.Stand(t.Context(), req)
		held, refused := errors.AsType[*driver.HeldError](err)
		if !refused {
			t.Fatal(err)
		}
		if held.Claim > 0 {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}
