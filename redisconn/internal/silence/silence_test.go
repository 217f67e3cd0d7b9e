package silence_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/internal/silence"
)

// TestAnswerIsTakenForSilence: connections are doubted after calls that got no answer, and
// have waited long enough for one.
func TestAnswerIsTakenForSilence(t *testing.T) {
	left := &redisconn.UnderwayError{Err: context.Canceled}
	for _, tt := range []struct {
		err  error
		took time.Duration
		want bool
	}{
		{nil, time.Second, false},
		{left, time.Second, true},
		{left, time.Millisecond, false},
		{os.ErrDeadlineExceeded, time.Second, true},
		{context.DeadlineExceeded, time.Second, true},
		{os.ErrDeadlineExceeded, time.Millisecond, false},
		{&redisconn.ReplyError{Cause: errors.New("BUSY")}, time.Second, false},
		{errors.New("broken"), time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			<-time.After(tt.took)
			if got := silence.Met(began, tt.err); got != tt.want {
				t.Errorf("%v after %v: %t", tt.err, tt.took, got)
			}
		})
	}
}
