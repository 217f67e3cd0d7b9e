package locks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// caller is a program in another language: it calls a Bedrock server without the client.
// Nothing is between it and the server: a grant that is lost on its way stays, rightly.
type caller struct {
	*worker

	random *rand.Rand
	locks  bedrockv1connect.LockServiceClient
}

const (
	// numCallers are those of a worker, and callNames the names that all of them share.
	numCallers = 3
	callNames  = 24
	// callTTL is longer than a lock may stand free, and over soon after a fault that
	// excuses that one is left behind.
	callTTL  = 3 * time.Second
	callWait = 5 * time.Second
)

// runCaller lets callers call until ctx ends.
func (w *worker) runCaller(ctx context.Context, random *rand.Rand) {
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: numCallers}}
	defer web.CloseIdleConnections()
	c := &caller{worker: w, random: random}
	c.locks = bedrockv1connect.NewLockServiceClient(web, w.Server, connect.WithProtoJSON())
	for ctx.Err() == nil {
		c.round()
		sleep.For(ctx, nemesis.Between(random, 0, 100*time.Millisecond))
	}
}

func (c *caller) round() {
	e := &event{
		At: history.Now(), Kind: kindAsk, Op: c.ops.Add(1), TTL: callTTL, Style: called,
		Name: callName(c.Prefix, c.random),
	}
	e.Until = e.At + callWait
	c.book.Add(e)
	ctx, cancel := context.WithTimeout(context.Background(), callWait)
	defer cancel()
	res, err := c.locks.Acquire(ctx, &bedrockv1.AcquireRequest{
		Name: e.Name, Ttl: durationpb.New(callTTL), Wait: durationpb.New(callWait),
		Meta: fmt.Sprintf(`{"pid":"%d"}`, os.Getpid()),
	})
	if err != nil {
		c.add(&event{Kind: kindNo, Op: e.Op, Class: classGone, Text: textOf(err)})
		return
	}
	grant := res.GetGrant()
	c.add(&event{Kind: kindGot, Op: e.Op, Token: grant.GetToken(), Owner: grant.GetOwner()})
	time.Sleep(nemesis.Between(c.random, 0, shortHold))
	c.release(e.Op, grant)
}

func callName(prefix string, random *rand.Rand) string {
	return fmt.Sprintf("%scall/%d", prefix, random.IntN(callNames))
}

// release gives the lock back, and insists until it is over by itself.
func (c *caller) release(op int64, grant *bedrockv1.Grant) {
	ctx, cancel := context.WithTimeout(context.Background(), callTTL)
	defer cancel()
	until := history.Now() + callTTL
	c.add(&event{Kind: kindOut, Op: op, Until: until})
	for {
		_, err := c.locks.Release(ctx, &bedrockv1.ReleaseRequest{Grant: grant})
		if err == nil || !sleep.For(ctx, look) {
			c.add(&event{Kind: kindLeft, Op: op, Text: textOf(err)})
			return
		}
	}
}
