package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// boundArrival bounds how long a request's body takes to arrive, and returns what lifts the
// bound again; nil if there is none.
func (g *gate) boundArrival(w http.ResponseWriter, r *http.Request) *http.ResponseController {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(g.bodyTime)) != nil {
		return nil
	}
	return control
}

// boundBody bounds how long a request's body is. The rest of a longer body is not even
// read; it would be skipped otherwise, however long it is.
func (g *gate) boundBody(
	w http.ResponseWriter, r *http.Request, arriving *http.ResponseController, p procedure,
) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	most, bare := g.body, !p.mounted && isBare(r)
	if bare {
		most -= framing
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if arriving != nil {
		r.Body = &hurried{r.Body, arriving, g.bodyTime, bare}
	}
}

// isBare reports whether the body is the message, with nothing around it.
func isBare(r *http.Request) bool {
	kind := r.Header.Get("Content-Type")
	return strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "application/proto")
}

// hurried is a body that must arrive in time. Once it has, the connection may be
// silent for as long as the answer takes.
type hurried struct {
	io.ReadCloser

	control *http.ResponseController
	most    time.Duration
	bare    bool // the body is the message, so its limit can be told as the server's
}

// Read implements [io.Reader].
func (h *hurried) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok && h.bare {
		return n, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf(
			"the request has more than %d bytes, which is the limit body of this server", large.Limit))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, connect.NewError(connect.CodeDeadlineExceeded, fmt.Errorf(
			"the request has not arrived within %v, which is the limit body-time of this server", h.most))
	}
	if err == io.EOF { // after anything else the limit stays, for what is still to be read
		_ = h.control.SetReadDeadline(time.Time{}) // it could be set before
		return n, err
	}
	return n, blamed(err)
}

// blamed marks errors in the client's framing, such as malformed chunks, as the client's
// fault.
func blamed(err error) error {
	var network net.Error
	var large *http.MaxBytesError
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) || errors.As(err, &large) {
		return err
	}
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("the body cannot be read: %w", err))
}
