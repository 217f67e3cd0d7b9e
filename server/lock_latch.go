package server

import (
	"cmp"
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// SetLatch implements the service.
func (l *locks) SetLatch(ctx context.Context, m *bedrockv1.SetLatchRequest) (*bedrockv1.SetLatchResponse, error) {
	latches, id, err := l.latchCall(m.GetName(), m.GetId())
	if err == nil {
		err = driver.CheckCount("count", int(m.GetCount()))
	}
	if err != nil {
		return nil, l.translate(ctx, "set latch", err)
	}
	set, err := latches.SetLatch(ctx, m.GetName(), id, int(m.GetCount()))
	if err != nil {
		return nil, l.translate(ctx, "set latch", err)
	}
	return &bedrockv1.SetLatchResponse{Set: set}, nil
}

// CountDown implements the service.
func (l *locks) CountDown(ctx context.Context, m *bedrockv1.CountDownRequest) (*bedrockv1.CountDownResponse, error) {
	by := cmp.Or(int(m.GetBy()), 1)
	latches, id, err := l.latchCall(m.GetName(), m.GetId())
	if err == nil {
		err = driver.CheckCount("by", by)
	}
	if err != nil {
		return nil, l.translate(ctx, "count down", err)
	}
	left, err := latches.CountDown(ctx, m.GetName(), id, by)
	if err != nil {
		return nil, l.translate(ctx, "count down", err)
	}
	return &bedrockv1.CountDownResponse{Left: uint32(max(left, 0))}, nil
}

// LatchCount implements the service.
func (l *locks) LatchCount(ctx context.Context, m *bedrockv1.LatchCountRequest) (*bedrockv1.LatchCountResponse, error) {
	latches, _, err := l.latchCall(m.GetName(), "")
	if err != nil {
		return nil, l.translateRead(ctx, "latch count", err)
	}
	count, err := latches.LatchCount(ctx, m.GetName())
	if err != nil {
		return nil, l.translateRead(ctx, "latch count", err)
	}
	return &bedrockv1.LatchCountResponse{Count: uint32(max(count, 0))}, nil
}

// DropLatch implements the service.
func (l *locks) DropLatch(ctx context.Context, m *bedrockv1.DropLatchRequest) (*bedrockv1.DropLatchResponse, error) {
	latches, _, err := l.latchCall(m.GetName(), "")
	if err != nil {
		return nil, l.translate(ctx, "drop latch", err)
	}
	dropped, err := latches.DropLatch(ctx, m.GetName())
	if err != nil {
		return nil, l.translate(ctx, "drop latch", err)
	}
	return &bedrockv1.DropLatchResponse{Dropped: dropped}, nil
}

// latchCall returns who keeps latches, and under which ID a call is made: one that is made up if it was left out.
func (l *locks) latchCall(name, id string) (latches driver.Latches, callID string, err error) {
	latches, ok := l.backend.(driver.Latches)
	if !ok {
		return nil, "", driver.ErrUnsupported
	}
	if err := driver.CheckName(name); err != nil {
		return nil, "", err
	}
	if id == "" {
		return latches, newOwner(), nil
	}
	return latches, id, checkCallID(id)
}

// checkCallID bounds what a store keeps for a minute: it may be any text that could be a name.
func checkCallID(id string) error {
	if n := len(id); n > driver.MaxOwner {
		return input.Errorf("id", "is %d bytes long, the limit is %d", n, driver.MaxOwner)
	}
	if wrong, ok := errors.AsType[*input.Error](driver.CheckName(id)); ok {
		return &input.Error{Field: "id", Problem: wrong.Problem}
	}
	return nil
}
