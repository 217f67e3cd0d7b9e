package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

// Sample is a participant that every server has, to try things out with.
type Sample struct {
	Name  string
	Means string

	call txn.Func
}

// Samples lists them.
func Samples() []Sample {
	return []Sample{
		{"demo.echo", "returns its payload", echoPayload},
		{"demo.slow", "returns its payload, a second later", echoSlowly},
		{"demo.refuse", "refuses, so that the transaction is rolled back", refuseCall},
		{"demo.fail", "fails, so that it is called again and again", failCall},
	}
}

// RegisterSamples makes them participants of a coordinator.
func RegisterSamples(engine *coord.Coordinator) error {
	for _, s := range Samples() {
		if err := engine.Register(s.Name, s.call); err != nil {
			return err
		}
	}
	return nil
}

func echoPayload(_ context.Context, call txn.Call) ([]byte, error) { return call.Payload, nil }

func echoSlowly(ctx context.Context, call txn.Call) ([]byte, error) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return call.Payload, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func refuseCall(context.Context, txn.Call) ([]byte, error) {
	return nil, txn.Abort(errors.New("demo.refuse refuses everything"))
}

func failCall(_ context.Context, call txn.Call) ([]byte, error) {
	return nil, fmt.Errorf("demo.fail always fails; this was call %d", call.Attempt)
}
