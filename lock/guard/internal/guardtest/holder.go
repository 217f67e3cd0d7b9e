// Package guardtest tests guards with real processes that have real locks and are really paused.
package guardtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// Writer writes to a guarded resource.
type Writer interface {
	guard.Store
	// Write sets the resource's value, unless the ticket is stale.
	Write(ctx context.Context, t guard.Ticket, value string) error
}

// roleVariable has the role of a process that is a holder.
const roleVariable = "BEDROCK_GUARD_HOLDER"

// role is what a holder is told.
type role struct {
	Redis string
	Name  string
	TTL   time.Duration
	Where []string // says to the writer where the resource is
}

// What a holder says, one line each: that it has the lock, what came of its write, and that its lease is lost.
type line struct {
	Token  uint64 `json:",omitempty"`
	Newest uint64 `json:",omitempty"` // of the refusal
	Error  string `json:",omitempty"`
	Lost   bool   `json:",omitempty"`
}

// PlayHolder makes a holder of this process if it was started as one, and does not return then. TestMain calls it.
func PlayHolder(open func(ctx context.Context, where []string) (Writer, error)) {
	text := os.Getenv(roleVariable)
	if text == "" {
		return
	}
	var r role
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.playRole(context.Background(), open)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "holder:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// playRole has the lock, waits for leave to write, and writes without another look at the lease.
func (r role) playRole(ctx context.Context, open func(ctx context.Context, where []string) (Writer, error)) error {
	writer, err := open(ctx, r.Where)
	if err != nil {
		return err
	}
	locks, err := lockClient(r.Redis, r.TTL)
	if err != nil {
		return err
	}
	lease, err := locks.Mutex(r.Name, nil).Lock(ctx)
	if err != nil {
		return err
	}
	ticket := guard.Of(lease)
	if err := writer.Announce(ctx, ticket); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(line{Token: ticket.Token}); err != nil {
		return err
	}
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	if err := out.Encode(lineOf(writer.Write(ctx, ticket, "late"))); err != nil {
		return err
	}
	<-lease.Context().Done()
	return out.Encode(line{Lost: errors.Is(context.Cause(lease.Context()), lock.ErrLost)})
}

func lineOf(err error) line {
	var l line
	if err != nil {
		l.Error = err.Error()
	}
	if stale, ok := errors.AsType[*guard.StaleError](err); ok {
		l.Newest = stale.Newest
	}
	return l
}

func lockClient(addr string, ttl time.Duration) (*lock.Client, error) {
	client := redis.NewClient(&redis.Options{Addr: addr})
	return redislock.New(goredis.Wrap(client), &redislock.Options{Lock: lock.Options{TTL: ttl}})
}
