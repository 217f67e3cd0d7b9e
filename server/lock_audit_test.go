package server_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/server"
)

// people is an operator of locks who knows one lock.
type people struct{ err error }

func (p people) ForceRelease(_ context.Context, name string) (bool, error) {
	return name == "held", p.err
}

func (p people) Ask(context.Context, string, string, time.Duration) (int, error) {
	return 2, p.err
}

// forces counts what was taken away.
type forces struct{ names []string }

func (f *forces) Observe(_ context.Context, e server.LockEvent) {
	if e.Kind == server.LockEventForced {
		f.names = append(f.names, e.Name)
	}
}

// TestWhatAConsoleDoesToLocksIsAudited as what the API does: also what has failed.
func TestWhatAConsoleDoesToLocksIsAudited(t *testing.T) {
	var log buffer
	var seen forces
	logger := slog.New(slog.NewTextHandler(&log, nil))
	a := server.NewAuditedLocks(people{}, logger, &seen)
	if held, err := a.ForceRelease(t.Context(), "held", "it hangs"); !held || err != nil {
		t.Error(held, err)
	}
	if held, err := a.ForceRelease(t.Context(), "free", "tidy"); held || err != nil {
		t.Error(held, err)
	}
	if told, err := a.Ask(t.Context(), "held", "deploy", time.Minute); told != 2 || err != nil {
		t.Error(told, err)
	}
	away := server.NewAuditedLocks(people{errors.New("store is away")}, logger, nil)
	if _, err := away.ForceRelease(t.Context(), "held", "again"); err == nil {
		t.Error("the failure is not told")
	}
	for _, part := range []string{
		`lock=held held=true reason="it hangs" action="force release"`, `lock=free held=false reason=tidy`,
		`lock=held told=2 within=1m0s reason=deploy action=ask`, `reason=again action="force release"`,
		`err="store is away"`,
	} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the audit trail lacks %q:\n%s", part, log.String())
		}
	}
	if got := strings.Join(seen.names, " "); got != "held" {
		t.Errorf("observed as taken away: %q", got)
	}
}
