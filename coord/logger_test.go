package coord_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

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
