package httpcall

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/reach"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// reply is what a participant has answered, over http or https.
type reply struct {
	status int
	length int64 // of the body; -1: not known
	header func(name string) string
	body   io.Reader
}

// readAnswer turns a reply into an answer. What is left of the body unread costs the
// connection, which is cheaper than reading what somebody goes on sending.
func (c *Caller) readAnswer(r reply) txn.Answer {
	switch status := r.status; {
	case status >= 200 && status < 300:
		return c.readResult(r)
	case status == http.StatusConflict:
		return txn.Answer{Kind: txn.AnswerRefused, Note: excerpt(r)}
	case status == http.StatusTooEarly:
		after := header.ParseRetryAfter(r.header(header.RetryAfter), r.header("Retry-After"), sentAt(r))
		return txn.Answer{Kind: txn.AnswerPending, Note: excerpt(r), After: after}
	case status >= 300 && status < 400:
		return txn.Answer{Kind: txn.AnswerFailed, Note: statusText(status) + ": redirects are not followed"}
	default:
		return failedAnswer(r)
	}
}

// sentAt is when a reply was sent, by the clock of who sent it, if it says so.
func sentAt(r reply) time.Time {
	if date, err := http.ParseTime(r.header("Date")); err == nil {
		return date
	}
	return time.Now()
}

// readResult reads the result. If the reply breaks off, it is as if there was none: asked
// again, an idempotent participant returns the result again.
func (c *Caller) readResult(r reply) txn.Answer {
	if r.length > c.maxResult {
		return c.droppedResult()
	}
	result, err := readBody(r, c.maxResult+1)
	switch {
	case err != nil:
		note := fmt.Sprintf("%s, but the result broke off after %d bytes: %s",
			statusText(r.status), len(result), reach.ErrorText(err))
		return txn.Answer{Kind: txn.AnswerFailed, Note: header.Excerpt(note)}
	case int64(len(result)) > c.maxResult:
		return c.droppedResult()
	case len(result) == 0:
		return txn.Answer{Kind: txn.AnswerDone}
	default:
		return txn.Answer{Kind: txn.AnswerDone, Result: result}
	}
}

func (c *Caller) droppedResult() txn.Answer {
	return txn.Answer{
		Kind: txn.AnswerDone, Note: fmt.Sprintf("the result was dropped: more than %d bytes", c.maxResult),
	}
}

func failedAnswer(r reply) txn.Answer {
	note := statusText(r.status)
	if text := excerpt(r); text != "" {
		note = header.Excerpt(note + ": " + text)
	}
	return txn.Answer{Kind: txn.AnswerFailed, Note: note, Down: unavailable(r.status), Lasting: lasting(r.status)}
}

// lasting reports whether a status says that the same call will never be taken.
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

// unavailable reports whether a status is about the service, not about the call.
func unavailable(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout
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
	return header.Excerpt(string(text))
}

// inOnePiece is how long a body is made room for that is only announced.
const inOnePiece = 1 << 20

// readBody reads at most limit bytes, in one piece if their number is known and not large.
func readBody(r reply, limit int64) ([]byte, error) {
	if n := r.length; n >= 0 && n < limit && n <= inOnePiece {
		result := make([]byte, n)
		n, err := io.ReadFull(r.body, result)
		return result[:n], err
	}
	return io.ReadAll(io.LimitReader(r.body, limit))
}
