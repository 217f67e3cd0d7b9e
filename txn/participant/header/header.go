package header

import (
	"encoding/base64"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// The names of the headers, as net/http spells them.
const (
	Transaction = "Bedrock-Transaction"
	Branch      = "Bedrock-Branch"
	Operation   = "Bedrock-Operation"
	Mode        = "Bedrock-Mode"
	Attempt     = "Bedrock-Attempt"
	Epoch       = "Bedrock-Epoch"
	Deadline    = "Bedrock-Deadline"
	Result      = "Bedrock-Result"
	RetryAfter  = "Bedrock-Retry-After"

	// Idempotency is spelt in lower case on purpose: a http.Transport that finds
	// Idempotency-Key takes it for leave to send the request again by itself, over
	// every idle connection in turn, and a participant that hangs up on a call would
	// get it many times under one attempt's number.
	Idempotency = "idempotency-key"
)

// MaxResult bounds the result that travels in a header: with it the headers still
// fit into the 8 KB that most servers accept.
const MaxResult = 4 << 10

// Of returns the headers of a call. The caller may add to them.
func Of(call *txn.Call) http.Header {
	const own = 9
	h := make(http.Header, len(call.Headers)+own+3)
	values := make([]string, 0, len(call.Headers)+own) // one allocation for all
	for name, value := range Fields(call) {
		values = append(values, value)
		n := len(values)
		h[name] = values[n-1 : n : n]
	}
	return h
}

// Fields lists the headers of a call: those of its transaction, in no order, and then
// the call's own, which the transaction's cannot stand in for.
func Fields(call *txn.Call) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { eachField(call, yield) }
}

func eachField(call *txn.Call, yield func(name, value string) bool) {
	for name, value := range call.Headers {
		name = http.CanonicalHeaderKey(name)
		if value != "" && !ours(name) && !yield(name, value) {
			return
		}
	}
	for _, f := range [...]struct{ name, value string }{
		{Transaction, call.Transaction},
		{Branch, call.Branch},
		{Operation, call.Op},
		{Mode, call.Mode},
		{Attempt, strconv.Itoa(call.Attempt)},
		{Epoch, strconv.FormatInt(call.Epoch, 10)},
		{Idempotency, call.Transaction + "/" + call.Branch + "/" + call.Op},
		{Deadline, deadline(call)},
		{Result, result(call)},
	} {
		if f.value != "" && !yield(f.name, f.value) {
			return
		}
	}
}

// ours reports whether a header is the call's own, however it is spelt.
func ours(name string) bool {
	return strings.HasPrefix(name, "Bedrock-") || strings.EqualFold(name, Idempotency)
}

func deadline(call *txn.Call) string {
	if call.Deadline.IsZero() {
		return ""
	}
	return call.Deadline.UTC().Format(time.RFC3339Nano)
}

func result(call *txn.Call) string {
	if len(call.Result) > MaxResult {
		return ""
	}
	return base64.StdEncoding.EncodeToString(call.Result)
}
