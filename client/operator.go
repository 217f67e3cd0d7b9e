package client

import (
	"context"
	"fmt"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// Act implements [txn.Operator]. It is not repeated: of an error that is not one of
// package txn's, the intervention may have taken effect.
func (c *Client) Act(ctx context.Context, id string, a txn.Action, reason string) error {
	_, err := c.transactions.Act(ctx, &bedrockv1.ActRequest{Id: id, Action: string(a), Reason: reason})
	if err == nil {
		return nil
	}
	left, err := judge(err)
	if left == answered {
		return err
	}
	return fmt.Errorf("%s %s: %w", a, id, given(ctx, err, left == unknown))
}

// Subscribe implements [txn.Topics].
func (c *Client) Subscribe(ctx context.Context, topic string, subscriber txn.Target) error {
	_, err := call(ctx, c, c.transactions.Subscribe, &bedrockv1.SubscribeRequest{Topic: topic, Subscriber: string(subscriber)})
	return err
}

// Unsubscribe implements [txn.Topics].
func (c *Client) Unsubscribe(ctx context.Context, topic string, subscriber txn.Target) error {
	_, err := call(ctx, c, c.transactions.Unsubscribe,
		&bedrockv1.UnsubscribeRequest{Topic: topic, Subscriber: string(subscriber)})
	return err
}

// Subscribers implements [txn.Topics].
func (c *Client) Subscribers(ctx context.Context, topic string) ([]txn.Target, error) {
	res, err := look(ctx, c, c.transactions.Subscribers, &bedrockv1.SubscribersRequest{Topic: topic})
	if err != nil {
		return nil, err
	}
	targets := make([]txn.Target, len(res.GetSubscribers()))
	for i, s := range res.GetSubscribers() {
		targets[i] = txn.Target(s)
	}
	return targets, nil
}
