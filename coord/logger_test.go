package coord_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestStartedAgain: what a coordinator does by itself begins once.
func TestStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		opts := &coord.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))}
		c := start(t, memstore.New(nil), opts, nil)
		must(t, c.Start(t.Context()))
		if n := strings.Count(told.String(), "coordinator has started"); n != 1 {
			t.Errorf("it has started %d times", n)
		}
		must(t, c.Stop(t.Context()))
		if err := c.Start(t.Context()); !errors.Is(err, txn.ErrClosed) {
			t.Errorf("after Stop: %v", err)
		}
	})
}

// TestTroubleIsToldWithoutALogger: nobody who starts a coordinator as the examples do
// would learn that a transaction waits for him.
func TestTroubleIsToldWithoutALogger(t *testing.T) {
	var told bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&told, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("deliver")
		parts.answer("deliver", errBroken)
		c := start(t, memstore.New(nil), nil, parts)
		submit(t, c, txn.Definition{Mode: "msg", ID: "letter", Branches: []txn.Branch{
			{ID: "a", Confirm: "deliver", Policy: &txn.Policy{Attempts: 1}},
		}})
		time.Sleep(time.Minute)
	})
	if !strings.Contains(told.String(), "letter") {
		t.Errorf("told: %q", &told)
	}
}
