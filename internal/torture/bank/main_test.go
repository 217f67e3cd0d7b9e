//go:build unix

package bank_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// settingsVariable tells a child of this test binary what it is.
const settingsVariable = "BEDROCK_BANK_CHILD"

// settings are what a child is told.
type settings struct {
	Role     string
	Name     string
	Addr     string   // where it listens
	Store    string   // URL
	Accounts string   // file
	Evidence string   // file for what the parent wants to count
	Service  string   // URL of the accounts
	Replicas []string // URLs
	Victim   victim
}

func TestMain(m *testing.M) {
	if text := os.Getenv(settingsVariable); text != "" {
		os.Exit(perform(text))
	}
	goleak.VerifyTestMain(m)
}

// perform is the main function of a child.
func perform(text string) int {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		slog.Error("no settings", "err", err)
		return 2
	}
	go leaveWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := s.play(ctx); err != nil {
		slog.Error("failed", "role", s.Role, "err", err)
		return 1
	}
	return 0
}

func (s *settings) play(ctx context.Context) error {
	switch s.Role {
	case "replica":
		return runReplica(ctx, s)
	case "service":
		return runService(ctx, s)
	case "victim":
		return runVictim(ctx, s)
	default:
		return fmt.Errorf("role %q is not known", s.Role)
	}
}

// leaveWithParent ends the child when its parent is gone, whatever killed that.
func leaveWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3)
}
