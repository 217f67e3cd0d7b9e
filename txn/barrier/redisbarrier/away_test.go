package redisbarrier_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// TestProducerHearsOfARestart: nobody repeats what a producer does. That its connections
// have died while they lay idle is no reason to fail.
func TestProducerHearsOfARestart(t *testing.T) {
	t.Parallel()
	withEach(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF}, testProducerHearsOfARestart)
}

func testProducerHearsOfARestart(t *testing.T, s *setup) {
	t.Helper()
	sum := 0
	for name, breakAll := range map[string]func(){
		"nothing":           func() {},
		"a server's limit":  func() { s.s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") },
		"a restart":         func() { s.s.Restart(true) },
		"a crash":           func() { s.s.Kill(); s.s.Restart(true) },
		"forgotten scripts": func() { s.s.Do("SCRIPT", "FLUSH") },
	} {
		for range 5 {
			s.fillPool(t, 8)
			breakAll()
			if _, err := s.b.Prepare(t.Context(), txn.NewID(), add, []string{"k"}, 1, ""); err != nil {
				t.Errorf("after %s: %v", name, err)
			}
			sum += 8 + 1
			s.want(t, "k", strconv.Itoa(sum))
		}
	}
}

// fillPool leaves several connections idle.
func (s *setup) fillPool(t *testing.T, n int) {
	t.Helper()
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			if _, err := s.b.Prepare(t.Context(), txn.NewID(), add, []string{"k"}, 1, ""); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

// TestProducerHearsOfAFailOver: what a server answers while its part changes, and what is
// lost on the way, whether it was carried out or not, comes right when it is sent again.
func TestProducerHearsOfAFailOver(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testProducerHearsOfAFailOver)
}

func testProducerHearsOfAFailOver(t *testing.T, s *setup) {
	t.Helper()
	sum := 0
	answered := func(text string) error { return &redisconn.ReplyError{Cause: errors.New(text)} }
	for _, lost := range []error{
		answered("READONLY You can't write against a read only replica."),
		answered("LOADING Redis is loading the dataset in memory"),
		answered("MASTERDOWN Link with MASTER is down"),
		&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		io.EOF,
	} {
		for _, carriedOut := range []bool{false, true} {
			sum++
			b := over(t, &failing{Conn: s.conn, left: 2, err: lost, carriedOut: carriedOut}, nil)
			result, err := b.Prepare(t.Context(), txn.NewID(), add, []string{"k"}, 1, "result")
			if err != nil || string(result) != "result" {
				t.Errorf("%v, carried out %t: %q, %v", lost, carriedOut, result, err)
			}
			s.want(t, "k", strconv.Itoa(sum))
		}
	}
	refused := &failing{Conn: s.conn, left: 1, err: answered("NOPERM this user has no permissions")}
	_, v, err := over(t, refused, nil).Do(t.Context(), call(txn.NewID(), "action"), add, []string{"k"}, 1, "")
	if v != barrier.Undecided || !errors.Is(err, refused.err) {
		t.Errorf("who may not: %v, %v", v, err)
	}
}

// failing is a connection over which some answers are lost.
type failing struct {
	redisconn.Conn

	left       int
	err        error
	carriedOut bool
}

// Eval implements redisconn.Conn.
func (f *failing) Eval(
	ctx context.Context, s *redisconn.Script, keys, args []string,
) (redisconn.Reply, error) {
	if f.left == 0 {
		return f.Conn.Eval(ctx, s, keys, args)
	}
	f.left--
	if f.carriedOut {
		_, _ = f.Conn.Eval(ctx, s, keys, args)
	}
	return redisconn.Reply{}, f.err
}

var _ redisconn.Conn = (*failing)(nil)
