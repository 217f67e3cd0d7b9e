package testenv_test

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRedisIsReadyAtOnce(t *testing.T) {
	start := time.Now()
	s := testenv.Redis(t, nil)
	t.Logf("ready after %v", time.Since(start))
	if got := s.Do("SET", "k", 1); got != "OK" {
		t.Fatalf("SET = %v, want OK", got)
	}
	if got := s.Do("INCR", "k"); got != int64(2) {
		t.Fatalf("INCR = %v, want 2", got)
	}
	if got := s.Do("GET", "none"); got != nil {
		t.Fatalf("GET of no key = %v, want nil", got)
	}
	var refused testenv.ReplyError
	if _, err := s.Try("LPUSH", "k", "x"); !errors.As(err, &refused) {
		t.Fatalf("LPUSH on a string: %v, want a ReplyError", err)
	}
}

func TestRedisRestart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		persist  testenv.Persistence
		crash    bool
		keepData bool
		want     any
	}{
		{"nothing persisted", testenv.PersistNone, false, true, nil},
		{"snapshot kept", testenv.PersistRDB, false, true, "v"},
		{"snapshot not written by a crash", testenv.PersistRDB, true, true, nil},
		{"snapshot removed", testenv.PersistRDB, false, false, nil},
		{"log kept over a crash", testenv.PersistLog, true, true, "v"},
		{"log on disk kept over a crash", testenv.PersistAOF, true, true, "v"},
		{"log removed", testenv.PersistAOF, true, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := testenv.Redis(t, &testenv.RedisOptions{Persistence: tt.persist})
			s.Do("SET", "k", "v")
			if tt.crash {
				s.Kill()
			}
			s.Restart(tt.keepData)
			if got := s.Do("GET", "k"); got != tt.want {
				t.Fatalf("after restart GET = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRedisAccess(t *testing.T) {
	t.Parallel()
	master := testenv.Redis(t, &testenv.RedisOptions{
		Password: `pass "word"`, Users: []string{"alice on >secret ~a* &* +get"}, TLS: true,
		MaxMemory: "8mb", Policy: "allkeys-lru",
	})
	replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: master})
	if got := master.Info("connected_slaves"); got != "1" {
		t.Errorf("connected_slaves = %q, want 1", got)
	}
	if got := master.Info("maxmemory_policy"); got != "allkeys-lru" {
		t.Errorf("maxmemory_policy = %q, want allkeys-lru", got)
	}
	if got := replica.Info("role"); got != "slave" {
		t.Errorf("role = %q, want slave", got)
	}
	if users, _ := master.Do("ACL", "LIST").([]any); len(users) != 2 {
		t.Errorf("users = %v, want default and alice", users)
	}
}
