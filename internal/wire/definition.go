package wire

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// Definition writes a definition. Payloads travel as bytes and are shared.
func Definition(d *txn.Definition) *bedrockv1.Definition {
	m := &bedrockv1.Definition{
		Id: d.ID, Mode: d.Mode, Name: d.Name, Branches: Branches(d.Branches),
		Timeout: duration(d.Timeout), Parallel: small(d.Parallel), Recovery: string(d.Recovery),
		Delay: duration(d.Delay), Headers: d.Headers,
	}
	if d.Payload != nil {
		m.Body = &bedrockv1.Definition_PayloadBytes{PayloadBytes: d.Payload}
	}
	if c := d.Check; c != nil {
		m.Check = &bedrockv1.Check{Target: string(c.Target), After: duration(c.After), Policy: policy(c.Policy)}
	}
	return m
}

// Branches writes branches.
func Branches(branches []txn.Branch) []*bedrockv1.Branch {
	if len(branches) == 0 {
		return nil
	}
	messages := make([]*bedrockv1.Branch, len(branches))
	for i := range branches {
		b := &branches[i]
		messages[i] = &bedrockv1.Branch{
			Id: b.ID, After: b.After, Do: string(b.Do), Confirm: string(b.Confirm), Undo: string(b.Undo),
			Use: b.Use, Policy: policy(b.Policy),
		}
		if b.Payload != nil {
			messages[i].Body = &bedrockv1.Branch_PayloadBytes{PayloadBytes: b.Payload}
		}
	}
	return messages
}

// DefinitionOf reads a definition. What it cannot read is a *txn.FieldError.
func DefinitionOf(m *bedrockv1.Definition) (d txn.Definition, err error) {
	if m == nil {
		return d, &txn.FieldError{Field: "definition", Problem: "is missing"}
	}
	d = txn.Definition{
		ID: m.GetId(), Mode: m.GetMode(), Name: m.GetName(), Timeout: m.GetTimeout().AsDuration(),
		Parallel: int(m.GetParallel()), Recovery: txn.Recovery(m.GetRecovery()), Delay: m.GetDelay().AsDuration(),
		Headers: m.GetHeaders(),
	}
	if c := m.GetCheck(); c != nil {
		d.Check = &txn.Check{Target: txn.Target(c.GetTarget()), After: c.GetAfter().AsDuration(), Policy: policyOf(c.GetPolicy())}
	}
	if d.Payload, err = payloadOf(m); err != nil {
		return d, err
	}
	d.Branches, err = BranchesOf(m.GetBranches())
	return d, err
}

// BranchesOf reads branches.
func BranchesOf(messages []*bedrockv1.Branch) ([]txn.Branch, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	branches := make([]txn.Branch, len(messages))
	for i, m := range messages {
		payload, err := branchPayloadOf(m)
		if err != nil {
			return nil, &txn.FieldError{Field: fmt.Sprintf("branches[%d].payload", i), Problem: err.Error()}
		}
		branches[i] = txn.Branch{
			ID: m.GetId(), After: m.GetAfter(), Do: txn.Target(m.GetDo()), Confirm: txn.Target(m.GetConfirm()),
			Undo: txn.Target(m.GetUndo()), Payload: payload, Use: m.GetUse(), Policy: policyOf(m.GetPolicy()),
		}
	}
	return branches, nil
}

func payloadOf(m *bedrockv1.Definition) ([]byte, error) {
	switch body := m.GetBody().(type) {
	case *bedrockv1.Definition_PayloadBytes:
		return body.PayloadBytes, nil
	case *bedrockv1.Definition_Payload:
		payload, err := encoded(body.Payload)
		if err != nil {
			return nil, &txn.FieldError{Field: "payload", Problem: err.Error()}
		}
		return payload, nil
	default:
		return nil, nil
	}
}

func branchPayloadOf(m *bedrockv1.Branch) ([]byte, error) {
	switch body := m.GetBody().(type) {
	case *bedrockv1.Branch_PayloadBytes:
		return body.PayloadBytes, nil
	case *bedrockv1.Branch_Payload:
		return encoded(body.Payload)
	default:
		return nil, nil
	}
}

func policy(p *txn.Policy) *bedrockv1.Policy {
	if p == nil {
		return nil
	}
	return &bedrockv1.Policy{
		Timeout: duration(p.Timeout), Backoff: duration(p.Backoff), MaxBackoff: duration(p.MaxBackoff),
		Attempts: small(p.Attempts), Then: string(p.Then), Hook: string(p.Hook),
	}
}

func policyOf(m *bedrockv1.Policy) *txn.Policy {
	if m == nil {
		return nil
	}
	return &txn.Policy{
		Timeout: m.GetTimeout().AsDuration(), Backoff: m.GetBackoff().AsDuration(), MaxBackoff: m.GetMaxBackoff().AsDuration(),
		Attempts: int(m.GetAttempts()), Then: txn.Exhausted(m.GetThen()), Hook: txn.Target(m.GetHook()),
	}
}

func duration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// small fits a number into the message; whatever is larger is refused all the same.
func small(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
