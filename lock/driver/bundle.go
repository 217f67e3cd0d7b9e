package driver

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
)

// MaxBundle is how many locks can be asked for in one step.
const MaxBundle = 64

// Bundler is implemented by backends whose stores can grant several locks in one step.
type Bundler interface {
	// Together reports whether the store can grant locks of those names in one step, as far as that is known without
	// asking it. Where it cannot after all, AcquireAll is [ErrUnsupported].
	Together(names []string) bool
	// AcquireAll is Acquire of several locks in one step: all of them are granted, or none. The requests are sound by
	// [CheckBundle], and their names are Together. It is idempotent as Acquire is: what an owner has already it is
	// granted again, with its time anew. A refusal is a [*HeldError] that tells which lock is held, the first of them
	// in the order of the requests; then nothing has changed.
	AcquireAll(ctx context.Context, reqs []Request) ([]Grant, error)
}

// CheckBundle says by an [*input.Error] what cannot be asked for in one step: locks of mode Exclusive are, 1 to
// [MaxBundle] of different names, and none that is Fair, a vote, or may stay with its client.
func CheckBundle(reqs []Request) error {
	if len(reqs) < 1 || len(reqs) > MaxBundle {
		return outOfRange("requests", len(reqs), 1, MaxBundle)
	}
	seen := make(map[string]bool, len(reqs))
	for i := range reqs {
		r := &reqs[i]
		if err := r.Check(); err != nil {
			return inField(fmt.Sprintf("requests[%d]", i), err)
		}
		switch {
		case r.Mode != Exclusive || r.Fair || r.IsVote() || r.Linger != 0:
			return &input.Error{Field: "requests", Problem: "are for plain locks of mode exclusive"}
		case seen[r.Name]:
			return input.Errorf("requests", "have the name %q twice", r.Name)
		}
		seen[r.Name] = true
	}
	return nil
}

// Annotator is implemented by backends that can change what is stored beside a grant.
type Annotator interface {
	// Annotate stores meta beside the grant in place of what is there, of at most [MaxMeta] bytes. A grant that the
	// store does not have (any more) is [ErrLost]; it is never made again.
	Annotate(ctx context.Context, g Grant, meta string) error
}
