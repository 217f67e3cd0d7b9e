package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

// hanging gets requests and answers none: somebody loses patience as soon as there is one.
type hanging struct {
	driver.Backend
	txn.Coordinator

	submits   bool // it answers those
	interrupt context.CancelFunc
}

func (h *hanging) hang(ctx context.Context) error {
	h.interrupt()
	<-ctx.Done()
	return ctx.Err()
}

// ForceRelease implements [driver.Forcer].
func (h *hanging) ForceRelease(ctx context.Context, _ string) (bool, error) {
	return false, h.hang(ctx)
}

// Act implements [txn.Operator].
func (h *hanging) Act(ctx context.Context, _ string, _ txn.Action, _ string) error {
	return h.hang(ctx)
}

// Submit implements [txn.Coordinator].
func (h *hanging) Submit(ctx context.Context, d txn.Definition) (string, error) {
	if h.submits {
		return d.ID, nil
	}
	return "", h.hang(ctx)
}

// Wait implements [txn.Coordinator].
func (h *hanging) Wait(ctx context.Context, _ string) (txn.Result, error) {
	return txn.Result{}, h.hang(ctx)
}

// interrupted runs a question to the server, or to the backend, until it is interrupted, and
// returns what the command then prints and its exit code.
func interrupted(
	t *testing.T, h *hanging, question func(context.Context, *remote, *hanging) error,
) (told string, code int) {
	t.Helper()
	handler, err := server.New(server.Services{Coordinator: h, Operator: h}, nil)
	must(t, err)
	s := httptest.NewServer(handler)
	defer s.Close()
	file := filepath.Join(t.TempDir(), "told")
	out, err := os.Create(file)
	must(t, err)
	defer out.Close()
	var ctx context.Context
	ctx, h.interrupt = context.WithCancel(t.Context())
	defer h.interrupt()
	sys := &system{stdout: out, stderr: out, getenv: func(string) string { return "" }}
	code = reportError(sys, question(ctx, &remote{sys: sys, server: s.URL}, h))
	said, err := os.ReadFile(file)
	must(t, err)
	return string(said), code
}

func forceRelease(ctx context.Context, _ *remote, h *hanging) error {
	locks, err := lock.New(h, nil)
	if err != nil {
		return err
	}
	defer func() { _ = locks.Stop(context.WithoutCancel(ctx)) }()
	_, err = locks.ForceRelease(ctx, "a")
	return fromBackend(err)
}

func abandon(ctx context.Context, r *remote, _ *hanging) error {
	return r.askServer(ctx, func(ctx context.Context, c *client.Client) error {
		return r.sys.act(ctx, c, intervention{action: txn.ActAbandon}, []string{"order"}, "why")
	})
}

func submitAndWait(ctx context.Context, r *remote, _ *hanging) error {
	return r.talk(ctx, -1, func(ctx context.Context, c *client.Client) error {
		return r.submitAndPrint(ctx, c, txn.Definition{ID: "order", Mode: "msg"}, true)
	})
}

// TestAnInterruptionHidesADoubt: who interrupts a command knows that it has ended, and not that
// what it has asked for may have happened.
func TestAnInterruptionHidesADoubt(t *testing.T) {
	for name, test := range map[string]struct {
		question func(context.Context, *remote, *hanging) error
		want     string
	}{
		"lock release": {forceRelease, "may have taken effect"},
		"tx abandon":   {abandon, "abandon order: no answer"},
		"tx submit":    {submitAndWait, "transaction order: outcome not known yet"},
	} {
		t.Run(name, func(t *testing.T) {
			told, code := interrupted(t, &hanging{Backend: memlock.NewBackend(nil)}, test.question)
			if code != exitInterrupted || !strings.Contains(told, test.want) {
				t.Errorf("exit code %d, want %q: %s", code, test.want, told)
			}
		})
	}
}

// TestAnInterruptedWaitIsADoubt: the transaction is submitted for certain.
func TestAnInterruptedWaitIsADoubt(t *testing.T) {
	told, code := interrupted(t, &hanging{submits: true}, submitAndWait)
	want := "bedrock: no longer waiting; see 'bedrock tx watch order'\n"
	if code != exitInterrupted || told != want {
		t.Errorf("exit code %d, want %q: %q", code, want, told)
	}
}
