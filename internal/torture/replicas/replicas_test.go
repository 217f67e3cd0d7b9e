package replicas_test

import (
	"context"
	"testing"

	"github.com/bedrock-go/bedrock/internal/torture/replicas"
	"github.com/bedrock-go/bedrock/txn"
)

// TestUnanswered makes sure that answers are not asked for again.
func TestUnanswered(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&txn.RolledBackError{}, false},
		{&txn.ParkedError{}, false},
		{txn.ErrDecided, false},
		{txn.ErrNotFound, false},
		{&txn.InDoubtError{}, true},
		{txn.ErrUnavailable, true},
		{txn.ErrClosed, true},
		{context.DeadlineExceeded, true},
	} {
		if replicas.Unanswered(c.err) != c.want {
			t.Errorf("%v: want %v", c.err, c.want)
		}
	}
}
