package console

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// How changes are announced.
const (
	mostLive  = 256 // pages that are told at once; others ask by themselves
	livePause = 200 * time.Millisecond
	liveSlow  = 10 * time.Second // a browser that takes longer is cut off
	liveTurn  = 10 * time.Minute // then the browser asks anew
)

// events announces the changes of one transaction, as server-sent events. They
// carry its revision only: the browser then fetches the page.
func (c *console) events(w http.ResponseWriter, r *http.Request) {
	select {
	case c.live <- struct{}{}:
		defer func() { <-c.live }()
	default:
		http.Error(w, "too many live pages", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), liveTurn)
	defer cancel()
	go func() {
		select {
		case <-c.Stopping(ctx):
			cancel()
		case <-ctx.Done():
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	c.writeEvents(ctx, w, r.PathValue("id"))
}

// writeEvents writes an event per change. Changes in quick succession share one.
func (c *console) writeEvents(ctx context.Context, w http.ResponseWriter, id string) {
	out := http.NewResponseController(w)
	for t, err := range c.transactions.Watch(ctx, id) {
		if err != nil {
			return // the browser asks anew, and sees what is wrong on the page
		}
		_ = out.SetWriteDeadline(time.Now().Add(liveSlow)) // a writer that knows no deadlines has none
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", t.Revision, t.Status); err != nil || out.Flush() != nil {
			return
		}
		_ = out.SetWriteDeadline(time.Time{})
		select {
		case <-time.After(livePause):
		case <-ctx.Done():
			return
		}
	}
}
