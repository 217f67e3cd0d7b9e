package httpcall

import (
	"fmt"
	"io"
	"net/http"

	"github.com/bedrock-go/bedrock/txn/participant/wire"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// read turns a reply into an answer. What is left of the body unread costs the
// connection, which is cheaper than reading what somebody goes on sending.
func (c *Caller) read(reply *http.Response) plan.Answer {
	switch status := reply.StatusCode; {
	case status >= 200 && status < 300:
		return c.done(reply)
	case status == http.StatusConflict:
		return plan.Answer{Kind: plan.Refused, Note: excerpt(reply)}
	case status == http.StatusTooEarly:
		after := wire.ParseRetryAfter(reply.Header.Get(wire.RetryAfter), reply.Header.Get("Retry-After"))
		return plan.Answer{Kind: plan.Pending, Note: excerpt(reply), After: after}
	case status >= 300 && status < 400:
		return plan.Answer{Kind: plan.Failed, Note: statusText(status) + ": redirects are not followed"}
	default:
		return failed(reply)
	}
}

// done reads the result. If the reply breaks off, it is as if there was none: asked
// again, an idempotent participant returns the result again.
func (c *Caller) done(reply *http.Response) plan.Answer {
	if reply.ContentLength > c.maxResult {
		return c.dropped()
	}
	result, err := readBody(reply, c.maxResult+1)
	switch {
	case err != nil:
		note := fmt.Sprintf("%s, but the result broke off after %d bytes: %v", statusText(reply.StatusCode), len(result), err)
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

func failed(reply *http.Response) plan.Answer {
	note := statusText(reply.StatusCode)
	if text := excerpt(reply); text != "" {
		note = wire.Excerpt(note + ": " + text)
	}
	return plan.Answer{Kind: plan.Failed, Note: note, Down: unavailable(reply.StatusCode)}
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
func excerpt(reply *http.Response) string {
	const most = 4 << 10
	text, err := readBody(reply, most)
	if err != nil && len(text) == 0 {
		return ""
	}
	return wire.Excerpt(string(text))
}

// readBody reads at most limit bytes, in one piece if their number is known.
func readBody(reply *http.Response, limit int64) ([]byte, error) {
	if n := reply.ContentLength; n >= 0 && n < limit {
		result := make([]byte, n)
		n, err := io.ReadFull(reply.Body, result)
		return result[:n], err
	}
	return io.ReadAll(io.LimitReader(reply.Body, limit))
}
