package server

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/wire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// Inspect implements the service.
func (l *locks) Inspect(ctx context.Context, m *bedrockv1.InspectRequest) (*bedrockv1.InspectResponse, error) {
	inspector, ok := l.backend.(driver.Inspector)
	if !ok {
		return nil, l.failed(ctx, "inspect", driver.ErrUnsupported)
	}
	if err := checkName("name", m.GetName()); err != nil {
		return nil, l.failed(ctx, "inspect", err)
	}
	info, err := inspector.Inspect(ctx, m.GetName())
	if err != nil {
		return nil, l.failed(ctx, "inspect", err)
	}
	return &bedrockv1.InspectResponse{Lock: told(info)}, nil
}

// told describes a lock for others than its owner, who is known by the key to it.
func told(i driver.Info) *bedrockv1.Lock {
	i.Owner = driver.PublicOwner(i.Owner)
	return wire.Lock(i)
}

// Browse implements the service.
func (l *locks) Browse(ctx context.Context, m *bedrockv1.BrowseRequest) (*bedrockv1.BrowseResponse, error) {
	inspector, ok := l.backend.(driver.Inspector)
	if !ok {
		return nil, l.failed(ctx, "browse", driver.ErrUnsupported)
	}
	limit, err := txn.PageSize(int(m.GetLimit()))
	if err == nil && m.GetPrefix() != "" {
		err = checkName("prefix", m.GetPrefix())
	}
	if err != nil {
		return nil, l.failed(ctx, "browse", err)
	}
	infos, err := inspector.List(ctx, m.GetPrefix(), limit)
	if err != nil {
		return nil, l.failed(ctx, "browse", err)
	}
	answer := &bedrockv1.BrowseResponse{Locks: make([]*bedrockv1.Lock, len(infos))}
	for i := range infos {
		answer.Locks[i] = told(infos[i])
	}
	return answer, nil
}

// ForceRelease implements the service.
func (l *locks) ForceRelease(
	ctx context.Context, m *bedrockv1.ForceReleaseRequest,
) (*bedrockv1.ForceReleaseResponse, error) {
	forcer, ok := l.backend.(driver.Forcer)
	if !ok {
		return nil, l.failed(ctx, "force release", driver.ErrUnsupported)
	}
	err := checkName("name", m.GetName())
	if err == nil {
		err = checkReason(m.GetReason())
	}
	if err != nil {
		return nil, l.failed(ctx, "force release", err)
	}
	held, err := forcer.ForceRelease(ctx, m.GetName())
	audit(ctx, l.log, "force release", err, "lock", m.GetName(), "held", held, "reason", m.GetReason())
	if err != nil {
		return nil, l.failed(ctx, "force release", err)
	}
	if held {
		l.given(LockForced, m.GetName(), nil)
	}
	return &bedrockv1.ForceReleaseResponse{Held: held}, nil
}

// Diagnose implements the service.
func (l *locks) Diagnose(ctx context.Context, _ *bedrockv1.DiagnoseRequest) (*bedrockv1.DiagnoseResponse, error) {
	checker, ok := l.backend.(driver.Checker)
	if !ok {
		return nil, l.failed(ctx, "diagnose", driver.ErrUnsupported)
	}
	findings, err := checker.Check(ctx)
	if err != nil {
		return nil, l.failed(ctx, "diagnose", err)
	}
	answer := &bedrockv1.DiagnoseResponse{}
	for _, f := range findings {
		answer.Findings = append(answer.Findings, wire.Finding(f))
	}
	return answer, nil
}
