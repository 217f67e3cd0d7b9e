package header

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// ErrNoCall means that the request is not part of a transaction.
var ErrNoCall = errors.New("no " + Transaction + " header: not a coordinator's call")

// Parse reads a call back from its headers, without payload. Call.Headers holds the
// headers that came along, named in lower case.
func Parse(header map[string][]string) (txn.Call, error) {
	r := reader{header: header}
	call := txn.Call{
		Transaction: r.text(Transaction),
		Branch:      r.text(Branch),
		Op:          r.text(Operation),
		Mode:        r.text(Mode),
		Attempt:     int(r.number(Attempt, 31)),
		Epoch:       r.number(Epoch, 63),
		Deadline:    r.time(Deadline),
		Result:      r.bytes(Result),
	}
	switch {
	case call.Transaction == "":
		return txn.Call{}, ErrNoCall
	case call.Op == "":
		return txn.Call{}, fmt.Errorf("header %s is missing", Operation)
	case r.err != nil:
		return txn.Call{}, r.err
	}
	call.Headers = passedOn(header)
	return call, nil
}

// reader takes values out of headers and keeps the first error.
type reader struct {
	header map[string][]string
	err    error
}

// text finds a header as net/http or as gRPC spells it.
func (r *reader) text(name string) string {
	values := r.header[name]
	if len(values) == 0 {
		values = r.header[strings.ToLower(name)]
	}
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func (r *reader) number(name string, bits int) int64 {
	text := r.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, bits)
	r.check(name, "a number", err)
	return int64(n)
}

func (r *reader) time(name string) time.Time {
	text := r.text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	r.check(name, "a time as in RFC 3339", err)
	return t.UTC()
}

func (r *reader) bytes(name string) []byte {
	b, err := base64.StdEncoding.DecodeString(r.text(name))
	r.check(name, "base64", err)
	if len(b) == 0 {
		return nil
	}
	return b
}

func (r *reader) check(name, want string, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("header %s: want %s", name, want)
	}
}

// passedOn picks what a transaction's own headers may be: nothing that belongs to
// the connection, to credentials, or to the call.
func passedOn(header map[string][]string) map[string]string {
	var passed map[string]string
	for name, values := range header {
		name = strings.ToLower(name)
		if len(values) == 0 || transport(name) {
			continue
		}
		if passed == nil {
			passed = make(map[string]string)
		}
		passed[name] = values[0]
	}
	return passed
}

// transport reports whether a header is none of the transaction's.
func transport(name string) bool {
	return slices.Contains([]string{
		"accept", "accept-encoding", "authorization", "connection", "cookie", "expect", "forwarded", "host",
		"idempotency-key", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via",
	}, name) || slices.ContainsFunc([]string{
		":", "bedrock-", "connect-", "content-", "grpc-", "proxy-", "x-forwarded-",
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
