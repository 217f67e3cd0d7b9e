package client

import (
	"context"
	"fmt"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// Act implements [txn.Operator]. It is not repeated: without an answer it is a
// *txn.InDoubtError, and the intervention may have taken effect.
func (c *Client) Act(ctx context.Context, id string, a txn.Action, reason string) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	req := &bedrockv1.ActRequest{Id: id, Action: string(a), Reason: reason}
	if err := unfit(req); err != nil {
		return err
	}
	_, err := withinPatience(c, c.transactions.Act)(ctx, req)
	if err == nil {
		return nil
	}
	left, err := effectOf(err)
	if left == answered {
		return err
	}
	err = fmt.Errorf("%s %s: %w", a, id, givenUp(ctx, err, left == unknown))
	if left == unknown {
		return inDoubt(id, err)
	}
	return err
}

// topicID is what a change of a topic calls it while its outcome is not known.
func topicID(topic string) string { return "topic/" + topic }

// Subscribe implements [txn.Topics].
func (c *Client) Subscribe(ctx context.Context, topic string, subscriber txn.Target) error {
	_, err := decide(ctx, c, topicID(topic), c.transactions.Subscribe,
		&bedrockv1.SubscribeRequest{Topic: topic, Subscriber: string(subscriber)})
	return err
}

// Unsubscribe implements [txn.Topics].
func (c *Client) Unsubscribe(ctx context.Context, topic string, subscriber txn.Target) error {
	_, err := decide(ctx, c, topicID(topic), c.transactions.Unsubscribe,
		&bedrockv1.UnsubscribeRequest{Topic: topic, Subscriber: string(subscriber)})
	return err
}

// Subscribers implements [txn.Topics].
func (c *Client) Subscribers(ctx context.Context, topic string) ([]txn.Target, error) {
	res, err := query(ctx, c, c.transactions.Subscribers, &bedrockv1.SubscribersRequest{Topic: topic})
	if err != nil {
		return nil, err
	}
	targets := make([]txn.Target, len(res.GetSubscribers()))
	for i, s := range res.GetSubscribers() {
		targets[i] = txn.Target(s)
	}
	return targets, nil
}
