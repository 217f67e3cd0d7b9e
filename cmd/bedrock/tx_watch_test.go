package main

import (
	"context"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// serveOpen serves a coordinator with one transaction that is open, and connects to it.
func serveOpen(t *testing.T, id string) *client.Client {
	t.Helper()
	co, err := coord.New(memstore.New(nil), nil)
	must(t, err)
	must(t, co.Start(t.Context()))
	t.Cleanup(func() { co.Stop(context.Background()) })
	_, err = co.Begin(t.Context(), txn.Definition{ID: id, Mode: "tcc", Timeout: time.Hour})
	must(t, err)
	h, err := server.New(server.Services{Coordinator: co, Inspector: co}, nil)
	must(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := client.Dial(s.URL, nil)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnInterruptedWatchIsNoOutcome: it was 0, which says that the transaction is committed.
func TestAnInterruptedWatchIsNoOutcome(t *testing.T) {
	c := serveOpen(t, "open")
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer nowhere.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, interrupt)
	sys := &system{stdout: nowhere, stderr: nowhere}
	if code := reportError(sys, sys.watchTransaction(ctx, c, "open")); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestAFullPageIsNotTakenForMore: of the only transaction there is, that there were more.
func TestAFullPageIsNotTakenForMore(t *testing.T) {
	c := serveOpen(t, "only")
	f := txFilter{limit: 1}
	found, more, err := f.list(t.Context(), c)
	if err != nil || len(found) != 1 || more {
		t.Errorf("%v, more: %t, %v", found, more, err)
	}
}
