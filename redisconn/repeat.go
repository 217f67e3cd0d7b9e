package redisconn

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
)

// tries is how often a request is sent that meets a broken connection.
const tries = 3

// Repeat makes a call again when it meets a broken connection: one that was broken
// before is found out by using it. It is for calls that may be made twice. Its error leaves
// behind what all of them do.
func Repeat(ctx context.Context, call func() (Reply, error)) (Reply, error) {
	var before error
	for n := 1; ; n++ {
		reply, err := call()
		err = withEarlier(before, err)
		if err == nil || n == tries || ctx.Err() != nil || !isBroken(err) {
			return reply, err
		}
		before = err
	}
}

// withEarlier returns the error of a call that was made before, too: if nobody knows what came of
// that, nobody knows what came of both.
func withEarlier(before, err error) error {
	if before != nil && err != nil && AftermathOf(before) == Unknown {
		return Mark(Unknown, err)
	}
	return err
}

const (
	// harmlessTries is how often a call is made that does no harm, and firstPause the time
	// between the first two; each pause is pauseGrowth times the one before.
	harmlessTries = 4
	firstPause    = 10 * time.Millisecond
	pauseGrowth   = 4
)

// RepeatHarmless makes a call again, after a pause, as long as nothing has come of it or
// nobody knows what: a server that is started anew, or another that takes its place, costs
// an answer or two. It is for calls that may be made any number of times, one after the
// other, and also while an earlier one is under way. Its error leaves behind what all of
// them do.
func RepeatHarmless(ctx context.Context, call func() (Reply, error)) (Reply, error) {
	var before error
	for n, pause := 1, firstPause; ; n, pause = n+1, pause*pauseGrowth {
		reply, err := call()
		again := err != nil && n < harmlessTries && mayComeYet(err)
		before = withEarlier(before, err)
		if !again || !sleep.For(ctx, pause) {
			return reply, before
		}
	}
}

// mayComeYet reports whether a call that has failed so may be answered when it is made
// again.
func mayComeYet(err error) bool {
	after := AftermathOf(err)
	return after == Unavailable || after == Unknown
}
