// Package grpcguard carries the token of a lock from a grpc-go client to a grpc-go server, which refuses stale ones.
// See package guard for what that means, and package header for the metadata. Package connectguard is the same for
// connect: each understands the other.
//
//	conn, err := grpc.NewClient(url, grpc.WithUnaryInterceptor(grpcguard.UnaryClient()),
//		grpc.WithStreamInterceptor(grpcguard.StreamClient()))
//	err = conn.Invoke(lease.Context(), "/orders.v1.Orders/Pay", &order, &Receipt{}) // errors.Is(err, guard.ErrStale)
//
// and at the service
//
//	fences := guard.NewMemory(nil) // or a guard of package sqlguard, pgxguard, redisguard
//	server := grpc.NewServer(grpc.UnaryInterceptor(grpcguard.UnaryServer(fences, nil)),
//		grpc.StreamInterceptor(grpcguard.StreamServer(fences, nil)))
//
// A stale token is FAILED_PRECONDITION, with the ticket and the newest token as trailers; one that cannot be a token is
// INVALID_ARGUMENT; none at all is FAILED_PRECONDITION, unless [Options.Optional] lets it through; and
// UNAVAILABLE says that the store did not answer within [Options.Timeout], so nothing was done.
//
// A call is checked once, before its handler runs; a stream when it begins. To be sure, a handler checks again in
// the transaction of each write, with the ticket that [guard.TicketFrom] finds in its context, and may return what that
// fails with. It should see that the ticket is that of the lock which guards what is written to: whoever may
// call can send any.
package grpcguard
