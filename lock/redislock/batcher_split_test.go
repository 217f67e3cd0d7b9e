package redislock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// alone is a server that runs scripts of one request only, and takes its time: most for the
// one that keeps a worker away.
type alone struct{ redisconn.Conn }

func (alone) Cluster() bool { return false }

func (alone) Listen(context.Context, string, redisconn.Sink) (redisconn.Listener, error) {
	return nil, errors.New("nobody tells anything")
}

func (alone) Eval(
	_ context.Context, _ *redisconn.Script, keys, _ []string,
) (reply redisconn.Reply, err error) {
	switch {
	case len(keys) > 2:
		return reply, &redisconn.ReplyError{Cause: errors.New("NOPERM no permissions to access one of the keys")}
	case keys[0] == "slow":
		<-time.After(time.Minute)
	default:
		<-time.After(time.Second)
	}
	return redisconn.Reply{Int: 1}, nil
}

// TestSplitBatchKeepsAnswersBack: one of several requests has spoiled their call, so each has
// another one, and is answered when that has ended.
func TestSplitBatchKeepsAnswersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := redislock.NewBackend(alone{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		began := time.Now()
		for name, after := range map[string]time.Duration{"slow": time.Minute, "quick": time.Second} {
			go acquireAfter(t, b, began, name, after)
			synctest.Wait() // each is on its way alone
		}
		go acquireAfter(t, b, began, "first", 2*time.Second)
		synctest.Wait()
		go acquireAfter(t, b, began, "second", 3*time.Second)
		<-time.After(time.Hour)
		synctest.Wait()
	})
}

func acquireAfter(t *testing.T, b driver.Backend, began time.Time, name string, after time.Duration) {
	_, err := b.Acquire(t.Context(), request(name, uuidA+":1"))
	if took := time.Since(began); err != nil || took != after {
		t.Errorf("%s: %v after %v, want it after %v", name, err, took, after)
	}
}
