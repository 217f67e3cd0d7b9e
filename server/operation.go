package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// longestReason is how much of a reason is kept, in bytes.
const longestReason = 1000

// Act implements the service.
func (t *transactions) Act(ctx context.Context, req *bedrockv1.ActRequest) (*bedrockv1.ActResponse, error) {
	if t.operator == nil {
		return nil, absent("interventions")
	}
	action := txn.Action(req.GetAction())
	if err := checkAct(action, req.GetReason()); err != nil {
		return nil, t.failed(ctx, "act", err)
	}
	if err := t.operator.Act(ctx, req.GetId(), action, req.GetReason()); err != nil {
		return nil, t.failed(ctx, "act", err)
	}
	return &bedrockv1.ActResponse{}, nil
}

func checkAct(action txn.Action, reason string) error {
	if !slices.Contains(txn.Actions(), action) {
		return &txn.FieldError{Field: "action", Problem: fmt.Sprintf("%.40q: want one of %v", action, txn.Actions())}
	}
	return checkReason(reason)
}

// checkReason asks for what the audit trail needs, of programs as of people.
func checkReason(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return problem("reason", "is empty: say why, it is kept")
	}
	if len(reason) > longestReason {
		return problem("reason", "%d bytes: at most %d", len(reason), longestReason)
	}
	return nil
}

// Subscribe implements the service.
func (t *transactions) Subscribe(ctx context.Context, req *bedrockv1.SubscribeRequest) (*bedrockv1.SubscribeResponse, error) {
	if t.topics == nil {
		return nil, absent("topics")
	}
	if err := t.topics.Subscribe(ctx, req.GetTopic(), txn.Target(req.GetSubscriber())); err != nil {
		return nil, t.failed(ctx, "subscribe", err)
	}
	return &bedrockv1.SubscribeResponse{}, nil
}

// Unsubscribe implements the service.
func (t *transactions) Unsubscribe(
	ctx context.Context, req *bedrockv1.UnsubscribeRequest,
) (*bedrockv1.UnsubscribeResponse, error) {
	if t.topics == nil {
		return nil, absent("topics")
	}
	if err := t.topics.Unsubscribe(ctx, req.GetTopic(), txn.Target(req.GetSubscriber())); err != nil {
		return nil, t.failed(ctx, "unsubscribe", err)
	}
	return &bedrockv1.UnsubscribeResponse{}, nil
}

// Subscribers implements the service.
func (t *transactions) Subscribers(
	ctx context.Context, req *bedrockv1.SubscribersRequest,
) (*bedrockv1.SubscribersResponse, error) {
	if t.topics == nil {
		return nil, absent("topics")
	}
	targets, err := t.topics.Subscribers(ctx, req.GetTopic())
	if err != nil {
		return nil, t.failed(ctx, "subscribers", err)
	}
	answer := &bedrockv1.SubscribersResponse{}
	for _, target := range targets {
		answer.Subscribers = append(answer.Subscribers, string(target))
	}
	return answer, nil
}

// Audited returns an operator that writes every intervention to a log: who, what
// and why. Give it to the console, too.
func Audited(operator txn.Operator, log *slog.Logger) txn.Operator {
	return &audited{operator, log}
}

type audited struct {
	operator txn.Operator
	log      *slog.Logger
}

// Act implements [txn.Operator].
func (a *audited) Act(ctx context.Context, id string, action txn.Action, reason string) error {
	err := a.operator.Act(ctx, id, action, reason)
	audit(ctx, a.log, string(action), err, "transaction", id, "reason", reason)
	return err
}

// audit writes one line of the audit trail.
func audit(ctx context.Context, log *slog.Logger, action string, err error, about ...any) {
	who := CredentialFrom(ctx)
	about = append(about, "action", action, "who", who.Name, "role", who.Role.String(), "remote", who.Remote)
	if err != nil {
		about = append(about, "err", err)
	}
	log.InfoContext(ctx, "audit", about...)
}
