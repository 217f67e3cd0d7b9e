package server

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Ask implements the service. It is audited, although it takes nothing away: it can end what somebody else does.
func (l *locks) Ask(ctx context.Context, m *bedrockv1.AskRequest) (*bedrockv1.AskResponse, error) {
	pleader, ok := l.backend.(driver.Pleader)
	if !ok {
		return nil, l.translate(ctx, "ask", storeLacks("way to ask holders"))
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
