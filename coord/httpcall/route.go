package httpcall

import (
	"context"
	"net/http"
	"sync"

	"github.com/bedrock-go/bedrock/internal/http1"
	"github.com/bedrock-go/bedrock/txn"
)

// route is how a target is reached that may be called. It never changes, as the rules
// never do.
type route struct {
	target txn.Target
	secure bool // https

	// The rest is made for the first call: most targets that are checked only undo
	// something, and are not called at all.
	once    sync.Once
	err     error
	address string        // of an http target
	start   []byte        // of all requests to it
	blank   *http.Request // that all requests to an https target are copies of
}

func (r *route) prepareOnce() error {
	r.once.Do(func() { r.err = r.prepareRequest() })
	return r.err
}

func (r *route) prepareRequest() error {
	blank, err := http.NewRequestWithContext(context.Background(), http.MethodPost, string(r.target), nil)
	if err != nil {
		return err
	}
	if r.secure {
		r.blank = blank
		return nil
	}
	r.address = http1.Address(blank.URL)
	r.start, err = http1.Start(blank.URL, agent)
	return err
}
