package server

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Annotate implements the service.
func (l *locks) Annotate(ctx context.Context, m *bedrockv1.AnnotateRequest) (*bedrockv1.AnnotateResponse, error) {
	annotator, ok := l.backend.(driver.Annotator)
	if !ok {
		return nil, l.translate(ctx, "annotate", driver.ErrUnsupported)
	}
	g, err := grantOf("grant", m.GetGrant())
	if err == nil {
		err = driver.CheckMeta(m.GetMeta())
	}
	if err == nil {
		err = annotator.Annotate(ctx, g, m.GetMeta())
	}
	if err != nil {
		return nil, l.translate(ctx, "annotate", err)
	}
	return &bedrockv1.AnnotateResponse{}, nil
}
