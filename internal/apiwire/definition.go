package apiwire

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/input"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// Definition writes a definition in the words of its mode. Payloads travel as bytes and are
// shared. What the mode has no word for is a *txn.InvalidError.
func Definition(d *txn.Definition) (m *bedrockv1.Definition, err error) {
	m = &bedrockv1.Definition{
		Id: d.ID, Mode: d.Mode, Name: d.Name, Headers: d.Headers,
		Timeout: duration(d.Timeout), Parallel: small(d.Parallel), Recovery: string(d.Recovery),
		Delay: duration(d.Delay),
	}
	if d.Payload != nil {
		m.Body = &bedrockv1.Definition_PayloadBytes{PayloadBytes: d.Payload}
	}
	if c := d.Check; c != nil {
		m.Check = &bedrockv1.Check{Target: string(c.Target), After: duration(c.After), Policy: policy(c.Policy)}
	}
	switch d.Mode {
	case saga.Name:
		m.Steps, err = steps(d.Branches)
	case tcc.Name:
		m.Branches = Branches(d.Branches)
	case msg.Name:
		m.Deliver, err = receivers(d.Branches)
	default:
		err = modes.Unknown(d.Mode)
	}
	return m, err
}

// storedDefinition writes a definition that was accepted, whoever by: while versions are mixed it
// may have a mode that is not known here, or parts that its mode has not here. It is shown in
// the words of the mode that has most.
func storedDefinition(d *txn.Definition) *bedrockv1.Definition {
	m, err := Definition(d)
	if err != nil {
		m.Steps, m.Deliver, m.Branches = nil, nil, Branches(d.Branches)
	}
	return m
}

// storedDefinitionOf reads it.
func storedDefinitionOf(m *bedrockv1.Definition) (txn.Definition, error) {
	if m == nil || ownParts(m) == nil {
		return DefinitionOf(m)
	}
	d, err := definitionHead(m)
	if err == nil {
		d.Branches, err = BranchesOf(m.GetBranches())
	}
	return d, err
}

// DefinitionOf reads a definition. What it cannot read is a *txn.InvalidError.
func DefinitionOf(m *bedrockv1.Definition) (d txn.Definition, err error) {
	if m == nil {
		return d, &txn.InvalidError{Field: "definition", Problem: "is missing"}
	}
	if d, err = definitionHead(m); err != nil {
		return d, err
	}
	if err := ownParts(m); err != nil {
		return d, err
	}
	switch d.Mode {
	case saga.Name:
		d.Branches, err = stepsOf(m.GetSteps())
	case tcc.Name:
		d.Branches, err = BranchesOf(m.GetBranches())
	default:
		d.Branches, err = ReceiversOf(m.GetDeliver())
	}
	return d, err
}

// definitionHead reads what all modes have.
func definitionHead(m *bedrockv1.Definition) (d txn.Definition, err error) {
	d = txn.Definition{
		ID: m.GetId(), Mode: m.GetMode(), Name: m.GetName(), Headers: m.GetHeaders(),
		Timeout: m.GetTimeout().AsDuration(), Parallel: int(m.GetParallel()), Recovery: txn.Recovery(m.GetRecovery()),
		Delay: m.GetDelay().AsDuration(),
	}
	if c := m.GetCheck(); c != nil {
		d.Check = &txn.Check{
			Target: txn.Target(c.GetTarget()), After: c.GetAfter().AsDuration(), Policy: policyOf(c.GetPolicy()),
		}
	}
	d.Payload, err = payloadOf("payload", m)
	return d, err
}

// ownParts refuses parts in the words of another mode, which nobody would carry out.
func ownParts(m *bedrockv1.Definition) error {
	if modes.Get(m.GetMode()) == nil {
		return modes.Unknown(m.GetMode())
	}
	own := modes.Parts(m.GetMode())
	for _, parts := range []struct {
		field string
		count int
	}{{"steps", len(m.GetSteps())}, {"branches", len(m.GetBranches())}, {"deliver", len(m.GetDeliver())}} {
		if parts.count > 0 && parts.field != own {
			return input.Errorf(parts.field, "has no meaning in mode %s; want %s", m.GetMode(), own)
		}
	}
	return nil
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
		Timeout: m.GetTimeout().AsDuration(), Backoff: m.GetBackoff().AsDuration(),
		MaxBackoff: m.GetMaxBackoff().AsDuration(),
		Attempts:   int(m.GetAttempts()), Then: txn.Fallback(m.GetThen()), Hook: txn.Target(m.GetHook()),
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
