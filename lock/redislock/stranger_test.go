package redislock

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/redisconn"
)

// locked is a cluster that does not know its user at first.
type locked struct {
	redisconn.Conn
	answers []error
}

func (l *locked) Cluster() bool { return true }

func (l *locked) Masters(context.Context) ([]redisconn.Node, error) { return []redisconn.Node{l}, nil }

func (l *locked) Addr() string { return "" }

func (l *locked) Do(context.Context, ...string) (redisconn.Reply, error) {
	err := l.answers[0]
	l.answers = l.answers[1:]
	return redisconn.Reply{}, err
}

// TestWrongPasswordIsTakenForAnOldServer: what is found out once is found out for good, and
// releases that are published another way wake nobody.
func TestWrongPasswordIsTakenForAnOldServer(t *testing.T) {
	for _, text := range []string{"WRONGPASS invalid username-password pair", "NOAUTH Authentication required"} {
		refused := &redisconn.ReplyError{Cause: errors.New(text)}
		b, err := newBackend(&locked{answers: []error{refused, nil}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		if _, err := b.pubsub.sharded(t.Context(), b); !errors.Is(err, refused) {
			t.Errorf("with the wrong password: %v", err)
		}
		if sharded, err := b.pubsub.sharded(t.Context(), b); err != nil || !sharded {
			t.Errorf("with the right one: sharded %t, %v", sharded, err)
		}
	}
}
