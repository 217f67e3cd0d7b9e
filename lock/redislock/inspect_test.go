package redislock

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/redisconn"
)

var errLine = errors.New("connection reset by peer")

// forgetful tells the names of two locks, and then fails to say more of them.
type forgetful struct{ redisconn.Conn }

func (forgetful) Cluster() bool { return false }

func (forgetful) Eval(context.Context, *redisconn.Script, []string, []string) (redisconn.Reply, error) {
	return redisconn.Reply{}, errLine
}

func (c forgetful) Masters(context.Context) ([]redisconn.Node, error) {
	return []redisconn.Node{c}, nil
}

func (forgetful) Addr() string { return "x" }

func (forgetful) Do(context.Context, ...string) (redisconn.Reply, error) {
	keys := redisconn.Replies{{Str: "a"}, {Str: "b"}}
	return redisconn.Reply{List: redisconn.Replies{{Str: "0"}, {List: keys}}}, nil
}

// TestShortListLooksWhole: a lock that could not be looked at is not left out in
// silence.
func TestShortListLooksWhole(t *testing.T) {
	b, err := newBackend(forgetful{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	infos, err := b.List(t.Context(), "", 10)
	if !errors.Is(err, errLine) {
		t.Errorf("got %d locks and %v, want the connection's error", len(infos), err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
