package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// singleFor is for how long a server is not asked for several locks in one step after it has said that it cannot: by
// then it may be a newer one.
const singleFor = time.Minute

// Together implements [driver.Bundler]. Only the server's store knows, and nobody waits here for its answer: it is
// asked for the locks, and a refusal with [driver.ErrUnsupported] says that they are to be had one after the other. A
// server that has none in one step is not asked again for a while.
func (b *backend) Together([]string) bool {
	until := b.single.Load()
	return until == nil || time.Now().After(*until)
}

// AcquireAll implements [driver.Bundler].
func (b *backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	if err := driver.Refused(driver.CheckBundle(reqs)); err != nil {
		return nil, fmt.Errorf("acquire all: %w", err)
	}
	b.attend(reqs[0].Owner)
	res, err := lasting(ctx, b, 0, b.client.locks.AcquireAll, apiwire.Bundle(reqs))
	what := fmt.Sprintf("acquire %d locks from", len(reqs))
	if err != nil {
		meant := acquireError(what, reqs[0].Name, err)
		b.noteSingle(meant)
		return nil, meant
	}
	grants, err := apiwire.GrantedOf(res, len(reqs))
	if err != nil { // what was granted is not known
		return nil, acquireError(what, reqs[0].Name, err)
	}
	return grants, nil
}

// noteSingle notes of a server that it grants no locks in one step, whatever they are called.
func (b *backend) noteSingle(err error) {
	if errors.Is(err, driver.ErrUnsupported) && !errors.Is(err, apiwire.ErrApart) {
		until := time.Now().Add(singleFor)
		b.single.Store(&until)
	}
}

// Annotate implements [driver.Annotator].
func (b *backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	err := driver.CheckOwner(g.Owner)
	if err == nil {
		err = driver.CheckMeta(meta)
	}
	if err := driver.Refused(err); err != nil {
		return fmt.Errorf("annotate %q: %w", g.Name, err)
	}
	req := &bedrockv1.AnnotateRequest{Grant: apiwire.Grant(g), Meta: meta}
	if _, err := twice(ctx, b.client, b.client.locks.Annotate, req); err != nil {
		return newerError("annotate", g.Name, err)
	}
	return nil
}
