package server

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// AcquireAll implements the service.
func (l *locks) AcquireAll(
	ctx context.Context, m *bedrockv1.AcquireAllRequest,
) (*bedrockv1.AcquireAllResponse, error) {
	bundler, ok := l.backend.(driver.Bundler)
	if !ok {
		return nil, l.translate(ctx, "acquire all", driver.ErrUnsupported)
	}
	reqs, err := bundleOf(m)
	if err == nil && !bundler.Together(namesOf(reqs)) {
		err = apiwire.ErrApart
	}
	if err != nil {
		return nil, l.translate(ctx, "acquire all", err)
	}
	began := time.Now()
	for i := range reqs {
		l.observeAsked(ctx, reqs[i].Name)
	}
	grants, err := l.askForAll(ctx, bundler, reqs)
	for i := range reqs { // all of them are granted, or none
		l.observeOutcome(ctx, reqs[i].Name, began, err)
	}
	if err != nil {
		return nil, l.translate(ctx, "acquire all", err)
	}
	if ctx.Err() != nil { // nobody is there to take them
		for _, g := range grants {
			l.giveBack(ctx, g)
		}
		return nil, l.translate(ctx, "acquire all", ctx.Err())
	}
	return apiwire.Granted(grants), nil
}

// bundleOf reads the requests for several locks and fills in what was left out.
func bundleOf(m *bedrockv1.AcquireAllRequest) ([]driver.Request, error) {
	if n := len(m.GetRequests()); n > driver.MaxBundle { // before anything is made of them
		return nil, input.Errorf("requests", "%d: at most %d", n, driver.MaxBundle)
	}
	reqs := make([]driver.Request, len(m.GetRequests()))
	for i, one := range m.GetRequests() {
		where := fmt.Sprintf("requests[%d]", i)
		if one.GetWait() != nil {
			return nil, input.Errorf(where+".wait", "is for one lock: several are had at once, or not at all")
		}
		var err error
		if reqs[i], err = requestOf(one); err != nil {
			return nil, inField(where, err)
		}
	}
	return reqs, driver.CheckBundle(reqs)
}

func namesOf(reqs []driver.Request) []string {
	names := make([]string, len(reqs))
	for i := range reqs {
		names[i] = reqs[i].Name
	}
	return names
}

// askForAll is askStore for several locks: each owner of an unknown outcome is released.
func (l *locks) askForAll(
	ctx context.Context, store driver.Bundler, reqs []driver.Request,
) ([]driver.Grant, error) {
	grants, err := store.AcquireAll(ctx, reqs)
	if err != nil {
		for i := range reqs {
			l.settleDoubt(ctx, &reqs[i], err)
		}
	}
	return grants, err
}
