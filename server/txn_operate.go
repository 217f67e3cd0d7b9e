package server

import (
	"cmp"
	"context"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// Act implements the service.
func (t *transactions) Act(ctx context.Context, req *bedrockv1.ActRequest) (*bedrockv1.ActResponse, error) {
	if t.operator == nil {
		return nil, notServed("interventions")
	}
	action := txn.Action(req.GetAction())
	if err := cmp.Or(check.Action(action), check.Reason(req.GetReason())); err != nil {
		return nil, t.translate(ctx, "act", err)
	}
	if err := t.operator.Act(ctx, req.GetId(), action, req.GetReason()); err != nil {
		return nil, t.translate(ctx, "act", err)
	}
	return &bedrockv1.ActResponse{}, nil
}

// Subscribe implements the service.
func (t *transactions) Subscribe(
	ctx context.Context, req *bedrockv1.SubscribeRequest,
) (*bedrockv1.SubscribeResponse, error) {
	if t.topics == nil {
		return nil, notServed("topics")
	}
	if err := t.topics.Subscribe(ctx, req.GetTopic(), txn.Target(req.GetSubscriber())); err != nil {
		return nil, t.translate(ctx, "subscribe", err)
	}
	return &bedrockv1.SubscribeResponse{}, nil
}

// Unsubscribe implements the service.
func (t *transactions) Unsubscribe(
	ctx context.Context, req *bedrockv1.UnsubscribeRequest,
) (*bedrockv1.UnsubscribeResponse, error) {
	if t.topics == nil {
		return nil, notServed("topics")
	}
	if err := t.topics.Unsubscribe(ctx, req.GetTopic(), txn.Target(req.GetSubscriber())); err != nil {
		return nil, t.translate(ctx, "unsubscribe", err)
	}
	return &bedrockv1.UnsubscribeResponse{}, nil
}

// Subscribers implements the service.
func (t *transactions) Subscribers(
	ctx context.Context, req *bedrockv1.SubscribersRequest,
) (*bedrockv1.SubscribersResponse, error) {
	if t.topics == nil {
		return nil, notServed("topics")
	}
	targets, err := t.topics.Subscribers(ctx, req.GetTopic())
	if err != nil {
		return nil, t.translate(ctx, "subscribers", err)
	}
	answer := &bedrockv1.SubscribersResponse{}
	for _, target := range targets {
		answer.Subscribers = append(answer.Subscribers, string(target))
	}
	return answer, nil
}
