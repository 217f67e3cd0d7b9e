package client

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Downgrade implements [driver.Downgrader].
func (b *backend) Downgrade(ctx context.Context, g driver.Grant) error {
	if err := driver.Refused(driver.CheckDowngrade(&g)); err != nil {
		return fmt.Errorf("downgrade %q: %w", g.Name, err)
	}
	req := &bedrockv1.DowngradeRequest{Grant: apiwire.Grant(g)}
	if _, err := twice(ctx, b.client, b.client.locks.Downgrade, req); err != nil {
		return newerError("downgrade", g.Name, err)
	}
	return nil
}
