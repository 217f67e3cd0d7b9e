package server

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ask makes one request of the store. When its outcome is not known, its owner is
// released in the background, however late the grant may come: the caller is told of
// a failure, or has gone, and nobody else knows the owner.
func (l *locks) ask(ctx context.Context, req driver.Request) (driver.Grant, error) {
	grant, err := l.backend.Acquire(ctx, req)
	if err == nil {
		return grant, nil
	}
	var none *settle.Doubt
	if doubt := none.After(err); doubt != nil {
		g := driver.Grant{Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL}
		goOn(ctx, func(ctx context.Context) { l.settler().Settle(ctx, g, doubt) })
	}
	return grant, err
}

func (l *locks) settler() *settle.Settler {
	began := time.Now()
	return &settle.Settler{Backend: l.backend, Log: l.log, Now: func() time.Duration { return time.Since(began) }}
}
