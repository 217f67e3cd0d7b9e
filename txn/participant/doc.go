// Package participant lets a service take part in transactions over HTTP:
//
//	http.Handle("POST /stock/deduct", participant.Handler(txn.Handle(deduct), nil))
//
// The handler turns a coordinator's request into a txn.Call and what the function
// returns into the status that the coordinator understands:
//
//	nil                200 and the result
//	txn.Abort(err)     409 and the error's text
//	txn.Pending(d)     425, Retry-After and Bedrock-Retry-After
//	txn.ErrMalformed   400 and the error's text: txn.Handle could not read the payload
//	any other error    500 and the error's text: the coordinator asks again
//	a panic            500; the panic is logged
//
// The function must be idempotent; package barrier makes it so. Requests without a
// transaction are refused, but who sends them is not checked: put the handler where
// only the coordinator can reach it, or behind authentication.
//
// Packages grpcpart and connectpart do the same for gRPC servers.
package participant
