package wire

import (
	"encoding/base64"
	"net/http"
	"strconv"
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

// Header returns the headers of a call. The caller may add to them.
func Header(call *txn.Call) http.Header {
	const own = 9
	h := make(http.Header, len(call.Headers)+own+3)
	values := make([]string, 0, len(call.Headers)+own) // one allocation for all
	set := func(name, value string) {
		if value != "" {
			values = append(values, value)
			n := len(values)
			h[name] = values[n-1 : n : n]
		}
	}
	for name, value := range call.Headers {
		set(http.CanonicalHeaderKey(name), value)
	}
	set(Transaction, call.Transaction)
	set(Branch, call.Branch)
	set(Operation, call.Op)
	set(Mode, call.Mode)
	set(Attempt, strconv.Itoa(call.Attempt))
	set(Epoch, strconv.FormatInt(call.Epoch, 10))
	set(Idempotency, call.Transaction+"/"+call.Branch+"/"+call.Op)
	if !call.Deadline.IsZero() {
		set(Deadline, call.Deadline.UTC().Format(time.RFC3339Nano))
	}
	if len(call.Result) <= MaxResult {
		set(Result, base64.StdEncoding.EncodeToString(call.Result))
	}
	return h
}
