package httpclients

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/bench/internal/load"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// Kind is a kind of call.
type Kind struct {
	Name string
	// caller makes what is measured of a client.
	caller func(c Client, address string) load.Do
}

// kinds are the calls that Bedrock makes.
func kinds() []Kind {
	return []Kind{{"to a participant", postCaller}, {"to a server", unaryCaller}}
}

// callTime bounds a call to a participant.
const callTime = 10 * time.Second

// postCaller calls as coord/httpcall does.
func postCaller(c Client, _ string) load.Do {
	return func(ctx context.Context, _ int) error {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		reply, err := c.Post(ctx)
		if err == nil && reply.Status != http.StatusOK {
			err = fmt.Errorf("status %d: %s", reply.Status, reply.Body)
		}
		return err
	}
}

// unaryCaller calls as package client does.
func unaryCaller(c Client, address string) load.Do {
	plainly := connect.WithAcceptCompression("gzip", nil, nil)
	service := bedrockv1connect.NewLockServiceClient(c, "http://"+address, plainly)
	return func(ctx context.Context, _ int) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err := service.Acquire(ctx, &bedrockv1.AcquireRequest{
			Name: "orders/42", Owner: "0198c7a4-5d3e-7c41-9f0a-3b1c5e7d9f10", Ttl: durationpb.New(callTime), Tokens: 1,
		})
		return err
	}
}
