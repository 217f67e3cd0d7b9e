package redislock

import (
	"context"
	"errors"
	"testing"
)

var errLine = errors.New("connection reset by peer")

// forgetful tells the names of two locks, and then fails to say more of them.
type forgetful struct{ Conn }

func (forgetful) Cluster() bool { return false }

func (forgetful) Eval(context.Context, *Script, []string, []string) (Reply, error) {
	return Reply{}, errLine
}

func (c forgetful) EachMaster(_ context.Context, fn func(Node) error) error { return fn(c) }

func (forgetful) Addr() string { return "x" }

func (forgetful) Do(context.Context, ...string) (Reply, error) {
	return Reply{Items: []Reply{{Str: "0"}, {Items: []Reply{{Str: "a"}, {Str: "b"}}}}}, nil
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
