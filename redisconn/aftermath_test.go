package redisconn_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
)

// TestErrorLeavesSomethingElseBehind: what is taken for not having happened, and has,
// is done twice; what has not happened and is taken for unknown is looked for in vain.
func TestErrorLeavesSomethingElseBehind(t *testing.T) {
	for text, want := range map[string]redisconn.Aftermath{
		"OOM command not allowed when used memory > 'maxmemory'.":                   redisconn.Unavailable,
		"READONLY You can't write against a read only replica. script: f, on @u:1.": redisconn.Unavailable,
		"ERR Error running script (call to f_1): @u:1: @u: 1: -READONLY You can't":  redisconn.Unavailable,
		"-READONLY You can't write against a read only replica":                     redisconn.Unavailable,
		"LOADING Redis is loading the dataset in memory":                            redisconn.Unavailable,
		"CLUSTERDOWN The cluster is down":                                           redisconn.Unavailable,
		"TRYAGAIN Multiple keys request during rehashing of slot":                   redisconn.Unavailable,
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is no":    redisconn.Unavailable,
		"NOREPLICAS Not enough good replicas to write.":                             redisconn.Unavailable,
		"MISCONF Redis is configured to save RDB snapshots, but it's unable to":     redisconn.Unavailable,
		"BUSY Redis is busy running a script":                                       redisconn.Unavailable,
		"UNBLOCKED force unblock from blocking operation, instance state changed":   redisconn.Unavailable,
		"UNKILLABLE Sorry the script already executed write commands":               redisconn.Unavailable,
		"MOVED 1234 127.0.0.1:7001":                                                 redisconn.Unavailable,
		"ASK 1234 127.0.0.1:7001":                                                   redisconn.Unavailable,
		"CROSSSLOT Keys in request don't hash to the same slot":                     redisconn.Unavailable,
		"NOSCRIPT No matching script. Please use EVAL.":                             redisconn.Unavailable,
		"ERR max number of clients reached":                                         redisconn.Unavailable,
		"ERR max number of clients + cluster connections reached":                   redisconn.Unavailable,
		"NOAUTH Authentication required.":                                           redisconn.Refused,
		"WRONGPASS invalid username-password pair or user is disabled.":             redisconn.Refused,
		"NOPERM this user has no permissions to run the 'evalsha' command":          redisconn.Refused,
		"NOPERM ACL failure in script: User u has no permissions to run the 'set'":  redisconn.Failed,
		"ERR ACL failure in script: User u has no permissions to run the 'set'":     redisconn.Failed,
		"WRONGTYPE Operation against a key holding the wrong kind of value":         redisconn.Failed,
		"ERR Error running script (call to f_1): @u:1: @u: 1: -WRONGTYPE Operation": redisconn.Failed,
		"ERR unknown command 'EVALSHA'":                                             redisconn.Failed,
		"ERR user_script:1: boom script: f_1, on @user_script:1.":                   redisconn.Failed,
	} {
		err := fmt.Errorf("wrapped: %w", &redisconn.ReplyError{Cause: errors.New(text)})
		if got := redisconn.AftermathOf(err); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// TestNameTellsWhatAnErrorLeavesBehind: names stand in answers, and may hold anything.
func TestNameTellsWhatAnErrorLeavesBehind(t *testing.T) {
	for _, text := range []string{
		"WRONGTYPE the key rate: -OOM of today is not a lock",
		"ERR the key max number of clients reached is not a lock",
		"ERR Error running script (call to f_1): @u:1: u:1: the key rate: -OOM of today is not a lock",
		"ERR Error running script (call to f_1): @u:1: @u: 1: -WRONGTYPE the key rate: -OOM of today",
	} {
		if got := redisconn.AftermathOf(&redisconn.ReplyError{Cause: errors.New(text)}); got != redisconn.Failed {
			t.Errorf("%q: got %d, want %d", text, got, redisconn.Failed)
		}
	}
}

// TestLostAnswerIsTakenForARefusal: of what happens on the way, only what is marked, and
// the making of a connection, leaves nothing behind for certain.
func TestLostAnswerIsTakenForARefusal(t *testing.T) {
	away := errors.New("away")
	first, other := net.Pipe()
	defer first.Close()
	defer other.Close()
	for _, tt := range []struct {
		err  error
		want redisconn.Aftermath
	}{
		{&net.OpError{Op: "dial", Err: away}, redisconn.Unavailable},
		{&tls.CertificateVerificationError{Err: away}, redisconn.Unavailable},
		{tls.RecordHeaderError{Conn: first}, redisconn.Unavailable}, // the very first answer
		{tls.RecordHeaderError{}, redisconn.Unknown},
		{&net.OpError{Op: "read", Err: away}, redisconn.Unknown},
		{&net.OpError{Op: "write", Err: away}, redisconn.Unknown},
		{io.EOF, redisconn.Unknown},
		{context.DeadlineExceeded, redisconn.Unknown},
		{redisconn.Mark(redisconn.Refused, away), redisconn.Refused},
		{redisconn.Mark(redisconn.Unavailable, context.Canceled), redisconn.Unavailable},
		{&redisconn.UnderwayError{Err: &net.OpError{Op: "dial", Err: away}}, redisconn.Unknown},
	} {
		err := fmt.Errorf("wrapped: %w", tt.err)
		if got := redisconn.AftermathOf(err); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%v: got %d, want %d", tt.err, got, tt.want)
		}
	}
}

// TestBlamesTheWrongKey: what one key has spoiled is tried again without it, and other data is
// passed over; an error of the whole server, taken for one of these, would be passed over, too.
func TestBlamesTheWrongKey(t *testing.T) {
	for text, want := range map[string]struct{ refused, foreign bool }{
		"NOPERM No permissions to access a key":                             {true, true},
		"NOPERM this user has no permissions to run the 'hgetall' command":  {false, false},
		"NOPERM ACL failure in script: No permissions to access a key":      {false, true},
		"CROSSSLOT Keys in request don't hash to the same slot":             {true, false},
		"WRONGTYPE Operation against a key holding the wrong kind of value": {false, true},
		"LOADING Redis is loading the dataset in memory":                    {},
		"NOAUTH Authentication required.":                                   {},
	} {
		err := fmt.Errorf("wrapped: %w", &redisconn.ReplyError{Cause: errors.New(text)})
		if refused, foreign := redisconn.KeyRefused(err), redisconn.KeyForeign(err); refused != want.refused ||
			foreign != want.foreign {
			t.Errorf("%q: refused %t, foreign %t", text, refused, foreign)
		}
	}
	if err := io.EOF; redisconn.KeyRefused(err) || redisconn.KeyForeign(err) {
		t.Error("a broken connection is blamed on a key")
	}
}

// TestRepeatedForEver: a call meets a broken connection again and again.
func TestRepeatedForEver(t *testing.T) {
	for _, tt := range []struct {
		err   error
		calls int
	}{{nil, 1}, {io.EOF, 3}, {net.ErrClosed, 3}, {errors.New("refused"), 1}} {
		calls := 0
		_, err := redisconn.Repeat(
			t.Context(), func() (redisconn.Reply, error) { calls++; return redisconn.Reply{}, tt.err },
		)
		if calls != tt.calls || !errors.Is(err, tt.err) {
			t.Errorf("%v: %d calls, %v", tt.err, calls, err)
		}
	}
}

// TestHarmlessCallIsMadeForEver: it is made again while something may come of it, and its
// caller waits.
func TestHarmlessCallIsMadeForEver(t *testing.T) {
	away := errors.New("away")
	for _, tt := range []struct {
		err   error
		calls int
	}{
		{nil, 1},
		{io.EOF, 4},
		{&net.OpError{Op: "dial", Err: away}, 4},
		{&net.OpError{Op: "read", Err: away}, 4},
		{&redisconn.ReplyError{Cause: errors.New("READONLY You can't write against a read only replica")}, 4},
		{&redisconn.ReplyError{Cause: errors.New("LOADING Redis is loading the dataset in memory")}, 4},
		{&redisconn.ReplyError{Cause: errors.New("WRONGTYPE Operation")}, 1},
		{redisconn.Mark(redisconn.Refused, away), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls, began := 0, time.Now()
			_, err := redisconn.RepeatHarmless(
				t.Context(), func() (redisconn.Reply, error) { calls++; return redisconn.Reply{}, tt.err },
			)
			if took := time.Since(began); calls != tt.calls || !errors.Is(err, tt.err) || took > time.Second {
				t.Errorf("%v: %d calls in %s, %v", tt.err, calls, took, err)
			}
		})
	}
}

// TestHarmlessCallOutlastsItsContext: a pause ends with it.
func TestHarmlessCallOutlastsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		calls, began := 0, time.Now()
		_, err := redisconn.RepeatHarmless(
			ctx, func() (redisconn.Reply, error) { calls++; return redisconn.Reply{}, io.EOF },
		)
		if took := time.Since(began); calls != 1 || !errors.Is(err, io.EOF) || took != 5*time.Millisecond {
			t.Errorf("%d calls in %s, %v", calls, took, err)
		}
	})
}

// TestLastErrorHidesWhatAnEarlierCallMayHaveDone: an answer was lost, and the calls after it
// did nothing.
func TestLastErrorHidesWhatAnEarlierCallMayHaveDone(t *testing.T) {
	lost := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	unmade := &net.OpError{Op: "dial", Err: syscall.ECONNRESET}
	refused := &redisconn.ReplyError{Cause: errors.New("NOAUTH Authentication required")}
	for name, repeat := range map[string]func(
		context.Context, func() (redisconn.Reply, error),
	) (redisconn.Reply, error){"Repeat": redisconn.Repeat, "RepeatHarmless": redisconn.RepeatHarmless} {
		for _, tt := range []struct {
			errs []error
			want redisconn.Aftermath
		}{
			{[]error{lost, unmade, refused}, redisconn.Unknown},
			{[]error{unmade, lost, refused}, redisconn.Unknown},
			{[]error{lost, refused}, redisconn.Unknown},
			{[]error{unmade, refused}, redisconn.Refused},
			{[]error{refused}, redisconn.Refused},
		} {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				_, err := repeat(t.Context(), func() (redisconn.Reply, error) {
					calls++
					return redisconn.Reply{}, tt.errs[calls-1]
				})
				if got := redisconn.AftermathOf(err); got != tt.want || !errors.Is(err, tt.errs[calls-1]) {
					t.Errorf("%s, %v: got %d, want %d (%v)", name, tt.errs, got, tt.want, err)
				}
			})
		}
	}
}
