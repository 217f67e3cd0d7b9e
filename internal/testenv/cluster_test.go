package testenv_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestClusterMovesSlots(t *testing.T) {
	t.Parallel()
	start := time.Now()
	c := testenv.Cluster(t, 3, 0)
	t.Logf("ready after %v", time.Since(start))
	slot := c.KeySlot("{tag}")
	from := c.NodeForSlot(slot)
	to := c.Nodes[0]
	if to == from {
		to = c.Nodes[1]
	}
	for i := range 150 {
		from.Do("SET", fmt.Sprintf("{tag}%d", i), i, "PX", 60000)
	}
	move := c.StartMove(slot, from, to)
	move.MoveKeys("{tag}7")
	if _, err := from.Try("GET", "{tag}7"); err == nil || !strings.HasPrefix(err.Error(), "ASK ") {
		t.Errorf("GET of a moved key during the move: %v, want ASK", err)
	}
	move.Finish()
	if _, err := from.Try("GET", "{tag}7"); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Errorf("GET after the move: %v, want MOVED", err)
	}
	if got := to.Do("GET", "{tag}149"); got != "149" {
		t.Errorf("GET at the new master = %v, want 149", got)
	}
	if ttl, _ := to.Do("PTTL", "{tag}149").(int64); ttl <= 0 {
		t.Errorf("PTTL at the new master = %d, want it kept", ttl)
	}
	if got := c.NodeForSlot(slot); got != to {
		t.Errorf("NodeForSlot = %s, want %s", got.Addr(), to.Addr())
	}
}

func TestClusterFailsOver(t *testing.T) {
	t.Parallel()
	c := testenv.Cluster(t, 3, 1)
	slot := c.KeySlot("k")
	c.NodeForSlot(slot).Do("SET", "k", "v")
	c.CatchUp(slot)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	start := time.Now()
	old := c.KillMasterOf(slot)
	master, err := c.WaitFailover(ctx, slot, old)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("failed over after %v", time.Since(start))
	if got := master.Do("GET", "k"); got != "v" {
		t.Fatalf("after fail-over GET = %v, want v", got)
	}
}
