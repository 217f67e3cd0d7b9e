package server

import (
	"context"

	"connectrpc.com/connect"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// The headers of answers, for those who do not read the message: proxies, logs, and a
// client whose connection breaks before it is complete.
const (
	idHeader      = "Bedrock-Transaction-Id"
	outcomeHeader = "Bedrock-Outcome"
)

// setIDHeader puts the ID into the header of an answer, also of one that is an error.
func setIDHeader(ctx context.Context, id string) {
	if call, ok := connect.CallInfoForHandlerContext(ctx); ok {
		call.ResponseHeader().Set(idHeader, id)
	}
}

// setOutcomeHeader puts what became of a wait into the header of the answer: committed,
// rolled-back, in-doubt, parked or pending.
func setOutcomeHeader(ctx context.Context, r *bedrockv1.Result) {
	call, ok := connect.CallInfoForHandlerContext(ctx)
	if !ok {
		return
	}
	word := r.GetOutcome()
	switch {
	case r.GetParked() != "":
		word = "parked"
	case r.GetPending():
		word = "pending"
	}
	call.ResponseHeader().Set(outcomeHeader, word)
}
