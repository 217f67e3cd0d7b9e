package txn

import "context"

// Caller reaches the participants behind some schemes of targets. Package httpcall has
// the one for http and https, package grpccall the one for grpc and grpcs.
type Caller interface {
	// Schemes names those whose targets it calls, such as "https". They never change.
	Schemes() []string
	// Check refuses a target that may not be called, before a transaction with it is
	// accepted.
	Check(target Target) error
	// Call asks the participant and ends when ctx ends. What cannot be told apart
	// from success or refusal is AnswerFailed; AnswerUnreached only if certainly
	// nothing has arrived there. The memory of the call is shared with others: it is
	// read only, and not after Call has returned. The answer's is the coordinator's.
	Call(ctx context.Context, target Target, call Call) Answer
}
