package httpcall

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/txn/participant/wire"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// reply is what a participant has answered, over http or https.
type reply struct {
	status int
	length int64 // of the body; -1: not known
	header func(name string) string
	body   io.Reader
}

// read turns a reply into an answer. What is left of the body unread costs the
// connection, which is cheaper than reading what somebody goes on sending.
func (c *Caller) read(r reply) plan.Answer {
	switch status := r.status; {
	case status >= 200 && status < 300:
		return c.done(r)
	case status == http.StatusConflict:
		return plan.Answer{Kind: plan.Refused, Note: excerpt(r)}
	case status == http.StatusTooEarly:
		after := wire.ParseRetryAfter(r.header(wire.RetryAfter), r.header("Retry-After"), sent(r))
		return plan.Answer{Kind: plan.Pending, Note: excerpt(r), After: after}
	case status >= 300 && status < 400:
		return plan.Answer{Kind: plan.Failed, Note: statusText(status) + ": redirects are not followed"}
	default:
		return failed(r)
	}
}

// sent is when a reply was sent, by the clock of who sent it, if it says so.
func sent(r reply) time.Time {
	if date, err := http.ParseTime(r.header("Date")); err == nil {
		return date
	}
	return time.Now()
}

// done reads the result. If the reply breaks off, it is as if there was none: asked
// again, an idempotent participant returns the result again.
func (c *Caller) done(r reply) plan.Answer {
	if r.length > c.maxResult {
		return c.dropped()
	}
	result, err := readBody(r, c.maxResult+1)
	switch {
	case err != nil:
		note := fmt.Sprintf("%s, but the result broke off after %d bytes: %v", statusText(r.status), len(result), err)
		return plan.Answer{Kind: plan.Failed, Note: wire.Excerpt(note)}
	case int64(len(result)) > c.maxResult:
		return c.dropped()
	case len(result) == 0:
		return plan.Answer{Kind: plan.Done}
	default:
		return plan.Answer{Kind: plan.Done, Result: result}
	}
}

func (c *Caller) dropped() plan.Answer {
	return plan.Answer{Kind: plan.Done, Note: fmt.Sprintf("the result was dropped: more than %d bytes", c.maxResult)}
}

func failed(r reply) plan.Answer {
	note := statusText(r.status)
	if text := excerpt(r); text != "" {
		note = wire.Excerpt(note + ": " + text)
	}
	return plan.Answer{Kind: plan.Failed, Note: note, Down: unavailable(r.status), Lasting: lasting(r.status)}
}

// lasting tells whether a status says that the same call will never be taken.
func lasting(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusGone, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	default:
		return false
	}
}

// unavailable tells whether a status is about the service, not about the call.
func unavailable(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

func statusText(status int) string {
	return fmt.Sprintf("%d %s", status, http.StatusText(status))
}

// excerpt is the beginning of the body. A little more is read than is kept, so that
// the connection survives an error page of usual size.
func excerpt(r reply) string {
	const most = 4 << 10
	text, err := readBody(r, most)
	if err != nil && len(text) == 0 {
		return ""
	}
	return wire.Excerpt(string(text))
}

// readBody reads at most limit bytes, in one piece if their number is known.
func readBody(r reply, limit int64) ([]byte, error) {
	if n := r.length; n >= 0 && n < limit {
		result := make([]byte, n)
		n, err := io.ReadFull(r.body, result)
		return result[:n], err
	}
	return io.ReadAll(io.LimitReader(r.body, limit))
}
