package server

import (
	"context"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Ask implements the service. It is audited, although it takes nothing away: it can end what somebody else does.
func (l *locks) Ask(ctx context.Context, m *bedrockv1.AskRequest) (*bedrockv1.AskResponse, error) {
	pleader, ok := l.backend.(driver.Pleader)
	if !ok {
		return nil, l.translate(ctx, "ask", driver.ErrUnsupported)
	}
	plea := apiwire.PleaOf(m)
	err := driver.CheckName(m.GetName())
	if err == nil {
		err = plea.Check()
	}
	if err != nil {
		return nil, l.translate(ctx, "ask", err)
	}
	told, err := pleader.Plead(ctx, m.GetName(), plea)
	auditAsk(ctx, l.log, m.GetName(), plea, told, err)
	if err != nil {
		return nil, l.translate(ctx, "ask", err)
	}
	return &bedrockv1.AskResponse{Told: uint32(max(told, 0))}, nil
}

// Attend implements the service. The first message says that it has begun.
func (l *locks) Attend(
	ctx context.Context, m *bedrockv1.AttendRequest, stream *connect.ServerStream[bedrockv1.AttendResponse],
) error {
	attender, ok := l.backend.(driver.Attender)
	if !ok {
		return l.translateRead(ctx, "attend", driver.ErrUnsupported)
	}
	if err := driver.CheckClient(m.GetClient()); err != nil {
		return l.translateRead(ctx, "attend", err)
	}
	ctx, cancel := untilDrained(ctx)
	defer cancel()
	box := newMailbox()
	stop, err := attender.Attend(ctx, m.GetClient(), box.putMessage)
	if err != nil {
		return l.translateRead(ctx, "attend", err)
	}
	defer stop()
	return l.passMessages(ctx, box, stream)
}

func (l *locks) passMessages(
	ctx context.Context, box *mailbox, stream *connect.ServerStream[bedrockv1.AttendResponse],
) error {
	next := &bedrockv1.AttendResponse{}
	for {
		send := func() error { return stream.Send(next) }
		if err := sendWithin(ctx, l.limits.Slow, send); err != nil {
			return err
		}
		m, err := box.takeMessage(ctx)
		if err != nil {
			return err
		}
		next = apiwire.Message(m)
	}
}
