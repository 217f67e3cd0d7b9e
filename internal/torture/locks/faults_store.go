package locks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// storeFaults hit the way of a Bedrock server to its Redis.
func (s *scene) storeFaults(way *chaos.Proxy) []nemesis.Fault {
	return []nemesis.Fault{{
		Name: "store slow", Excuses: nemesis.Excuses{Loss: true}, Weight: 4,
		Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
			way.Delay(storeDelay)
			left := s.hangUp(random, 15)
			way.Heal()
			sleep.For(ctx, time.Second) // for the server to clean up, before something happens to it
			return nemesis.Effect{Evidence: fmt.Sprintf("%d callers hung up before the store could answer", left)}, nil
		},
	}}
}

const (
	// storeDelay is how late each packet is: an answer of the store takes twice as long.
	storeDelay = 100 * time.Millisecond
	// leftTTL is how long a lock stays that nobody cleans up: what is left is looked for when all is
	// over, so after the shortest run it is still there, whenever that was.
	leftTTL = longTTL
)

// hangUp lets callers ask for locks and hang up, some at once and that several times. It
// returns how many were certainly gone before the server knew the store's answer, so that
// it has to see to it that they have no lock. The others release it themselves.
func (s *scene) hangUp(random *rand.Rand, rounds int) (left int) {
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	locks := bedrockv1connect.NewLockServiceClient(web, s.front, connect.WithProtoJSON())
	for range rounds {
		var all sync.WaitGroup
		var gone [callsAtOnce]bool
		for i := range gone {
			req := &bedrockv1.AcquireRequest{
				Name: callName(s.Prefix, random), Owner: fmt.Sprintf("gone-%x", random.Uint64()),
				Ttl: durationpb.New(leftTTL),
			}
			patience := nemesis.Between(random, time.Millisecond, storeDelay)
			all.Go(func() { gone[i] = hangUp(locks, req, patience) })
		}
		all.Wait()
		for _, g := range gone {
			if g {
				left++
			}
		}
	}
	return left
}

const callsAtOnce = 4

// hangUp asks and hangs up, and reports whether that was before there could be an answer.
func hangUp(locks bedrockv1connect.LockServiceClient, req *bedrockv1.AcquireRequest, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := history.Now()
	_, err := locks.Acquire(ctx, req)
	if err != nil && history.Now()-began < storeDelay*3/2 {
		return true
	}
	ctx, cancel = context.WithTimeout(context.Background(), leftTTL)
	defer cancel()
	sleep.For(ctx, 4*storeDelay)
	_, _ = locks.Release(ctx, &bedrockv1.ReleaseRequest{
		Grant: &bedrockv1.Grant{Name: req.GetName(), Owner: req.GetOwner()},
	})
	return false
}
