package server

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// Inspect implements the service.
func (l *locks) Inspect(ctx context.Context, m *bedrockv1.InspectRequest) (*bedrockv1.InspectResponse, error) {
	inspector, ok := l.backend.(driver.Inspector)
	if !ok {
		return nil, l.translateRead(ctx, "inspect", storeLacks("way to look at locks"))
	}
	if err := driver.CheckName(m.GetName()); err != nil {
		return nil, l.translateRead(ctx, "inspect", err)
	}
	info, err := inspector.Inspect(ctx, m.GetName())
	if err != nil {
		return nil, l.translateRead(ctx, "inspect", err)
	}
	return &bedrockv1.InspectResponse{Lock: apiwire.Lock(info)}, nil
}

// Browse implements the service.
func (l *locks) Browse(ctx context.Context, m *bedrockv1.BrowseRequest) (*bedrockv1.BrowseResponse, error) {
	inspector, ok := l.backend.(driver.Inspector)
	if !ok {
		return nil, l.translateRead(ctx, "browse", storeLacks("list of locks"))
	}
	limit, err := txn.PageSize(int(m.GetLimit()))
	if err == nil {
		err = driver.CheckPrefix(m.GetPrefix())
	}
	if err != nil {
		return nil, l.translateRead(ctx, "browse", err)
	}
	infos, err := inspector.List(ctx, m.GetPrefix(), limit)
	if err != nil {
		return nil, l.translateRead(ctx, "browse", err)
	}
	answer := &bedrockv1.BrowseResponse{Locks: make([]*bedrockv1.Lock, len(infos))}
	for i := range infos {
		answer.Locks[i] = apiwire.Lock(infos[i])
	}
	return answer, nil
}

// ForceRelease implements the service.
func (l *locks) ForceRelease(
	ctx context.Context, m *bedrockv1.ForceReleaseRequest,
) (*bedrockv1.ForceReleaseResponse, error) {
	forcer, ok := l.backend.(driver.Forcer)
	if !ok {
		return nil, l.translate(ctx, "force release", storeLacks("forced release"))
	}
	err := driver.CheckName(m.GetName())
	if err == nil {
		err = check.Reason(m.GetReason())
	}
	if err != nil {
		return nil, l.translate(ctx, "force release", err)
	}
	held, err := forcer.ForceRelease(ctx, m.GetName())
	audit(ctx, l.log, "force release", err, "lock", m.GetName(), "held", held, "reason", m.GetReason())
	if err != nil {
		return nil, l.translate(ctx, "force release", err)
	}
	if held {
		l.observeForced(ctx, m.GetName())
	}
	return &bedrockv1.ForceReleaseResponse{Held: held}, nil
}

// Diagnose implements the service.
func (l *locks) Diagnose(ctx context.Context, _ *bedrockv1.DiagnoseRequest) (*bedrockv1.DiagnoseResponse, error) {
	checker, ok := l.backend.(driver.Checker)
	if !ok {
		return nil, l.translateRead(ctx, "diagnose", storeLacks("check of its settings"))
	}
	findings, err := checker.Check(ctx)
	if err != nil {
		return nil, l.translateRead(ctx, "diagnose", err)
	}
	answer := &bedrockv1.DiagnoseResponse{}
	for _, f := range findings {
		answer.Findings = append(answer.Findings, apiwire.Finding(f))
	}
	return answer, nil
}

// Identify implements the service.
func (l *locks) Identify(ctx context.Context, _ *bedrockv1.IdentifyRequest) (*bedrockv1.IdentifyResponse, error) {
	identifier, ok := l.backend.(driver.Identifier)
	if !ok {
		return nil, l.translateRead(ctx, "identify", driver.ErrUnsupported)
	}
	identity, err := identifier.Identity(ctx)
	if err != nil {
		return nil, l.translateRead(ctx, "identify", err)
	}
	return &bedrockv1.IdentifyResponse{Identity: identity}, nil
}
