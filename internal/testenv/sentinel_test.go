package testenv_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestSentinelFailsOver(t *testing.T) {
	t.Parallel()
	start := time.Now()
	s := testenv.Sentinel(t, 2)
	t.Logf("ready after %v", time.Since(start))
	s.Master().Do("SET", "k", "v")
	for _, replica := range s.Servers[1:] {
		replica.CatchUp()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	start = time.Now()
	old := s.KillMaster()
	master, err := s.WaitFailover(ctx, old)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("failed over after %v", time.Since(start))
	if got := master.Do("GET", "k"); got != "v" {
		t.Fatalf("after fail-over GET = %v, want v", got)
	}
	master.Do("SET", "k", "w")
	if len(s.Addrs()) != 3 {
		t.Fatalf("Addrs = %v, want 3 sentinels", s.Addrs())
	}
}
