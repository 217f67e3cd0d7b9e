// Package grpccall reaches participants behind grpc and grpcs targets:
// grpc://host:port/pkg.Service/Method, without TLS, and grpcs://… with it.
//
//	calls, err := grpccall.New(&grpccall.Options{Allow: rules})
//	if err != nil {
//		return err
//	}
//	defer calls.Close()
//	co, err := coord.New(store, &coord.Options{
//		Callers: []txn.Caller{calls},
//	})
//
// A call is unary; the payload is the request message as it is encoded, the result
// the response message. The metadata are the headers of package header. The answer is
// the status:
//
//	OK                  done
//	ABORTED             refused; the message says why
//	FAILED_PRECONDITION still working; the trailer bedrock-retry-after says in
//	                    milliseconds when to ask again
//	INVALID_ARGUMENT, OUT_OF_RANGE, NOT_FOUND, UNAUTHENTICATED, PERMISSION_DENIED,
//	UNIMPLEMENTED       asking again changes nothing: logged at once, and parked after
//	                    eight of them in a row
//	everything else     nobody knows whether it was done: asked again
//
// Only a participant's own word counts: an ABORTED of the connection does not exist,
// and whatever else goes wrong on the way is a failure.
//
// Unlike in HTTP, a response longer than the limit is a failure: in gRPC the status
// comes after it, and reading on to find it would have no bound.
package grpccall
