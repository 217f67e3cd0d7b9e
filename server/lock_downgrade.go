package server

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Downgrade implements the service.
func (l *locks) Downgrade(ctx context.Context, m *bedrockv1.DowngradeRequest) (*bedrockv1.DowngradeResponse, error) {
	downgrader, ok := l.backend.(driver.Downgrader)
	if !ok {
		return nil, l.translate(ctx, "downgrade", driver.ErrUnsupported)
	}
	g, err := grantOf("grant", m.GetGrant())
	if err == nil {
		err = driver.CheckDowngrade(&g)
	}
	if err == nil {
		err = downgrader.Downgrade(ctx, g)
	}
	if err != nil {
		return nil, l.translate(ctx, "downgrade", err)
	}
	return &bedrockv1.DowngradeResponse{}, nil
}
