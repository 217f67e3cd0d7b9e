package redislock_test

import (
	"context"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

const compareAndDelete = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

// BenchmarkUncontended measures one acquisition and release by the backend
// alone, next to the least a Redis lock can do: SET NX PX and a script.
func BenchmarkUncontended(b *testing.B) {
	server := testenv.Redis(b, nil)
	b.Run("raw-goredis", func(b *testing.B) { benchmarkRawGoredis(b, server.Addr()) })
	b.Run("raw-rueidis", func(b *testing.B) { benchmarkRawRueidis(b, server.Addr()) })
	for _, l := range libraries() {
		b.Run(l.name, func(b *testing.B) { benchmarkBackend(b, l.connect(b, single(server)), nil) })
		b.Run("redlock-"+l.name, func(b *testing.B) {
			benchmarkBackend(b, l.connect(b, single(server)), &redislock.Options{Profile: redislock.Redlock})
		})
	}
}

func benchmarkBackend(b *testing.B, conn redisconn.Conn, opts *redislock.Options) {
	backend := open(b, conn, opts)
	ctx := context.Background()
	req := request("bench", uuidA+":1")
	req.Meta = `{"host":"example","pid":"12345"}`
	b.ReportAllocs()
	for b.Loop() {
		g, err := backend.Acquire(ctx, req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := backend.Release(ctx, g); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkRawGoredis(b *testing.B, addr string) {
	client := goredisclient.NewClient(&goredisclient.Options{Addr: addr})
	defer client.Close()
	release := goredisclient.NewScript(compareAndDelete)
	ctx := context.Background()
	keys := []string{"raw"}
	b.ReportAllocs()
	for b.Loop() {
		if err := client.SetNX(ctx, "raw", "owner", 30*time.Second).Err(); err != nil {
			b.Fatal(err)
		}
		if err := release.Run(ctx, client, keys, "owner").Err(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkRawRueidis(b *testing.B, addr string) {
	client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	release := rueidisclient.NewLuaScript(compareAndDelete)
	ctx := context.Background()
	keys, args := []string{"raw"}, []string{"owner"}
	b.ReportAllocs()
	for b.Loop() {
		set := client.B().Set().Key("raw").Value("owner").Nx().PxMilliseconds(30000).Build()
		if err := client.Do(ctx, set).Error(); err != nil {
			b.Fatal(err)
		}
		if err := release.Exec(ctx, client, keys, args).Error(); err != nil {
			b.Fatal(err)
		}
	}
}
