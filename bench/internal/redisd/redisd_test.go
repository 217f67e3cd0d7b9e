package redisd_test

import (
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
)

func TestCountersLeaveTheObserverOut(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	ctx := t.Context()
	server, err := redisd.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	monitor, err := redisd.Watch(ctx, server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer monitor.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer rdb.Close()
	rdb.Ping(ctx)

	before, err := monitor.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rdb.Set(ctx, "a", "b", 0)
	rdb.Get(ctx, "a")
	after, err := monitor.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Since(before); got.Commands != 2 || got.Reads != 2 || got.Executing("set") <= 0 {
		t.Errorf("two commands were counted as %+v", got)
	}
}
