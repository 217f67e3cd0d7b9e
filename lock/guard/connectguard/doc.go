// Package connectguard carries the token of a lock between connect clients and handlers, over any of their protocols,
// and refuses stale ones. It does what package grpcguard does for grpc-go; each understands the other.
//
//	opts := connect.WithInterceptors(connectguard.Client())
//	orders := connect.NewClient[Order, Receipt](http.DefaultClient, url, opts)
//	_, err := orders.CallUnary(lease.Context(), connect.NewRequest(&order)) // errors.Is(err, guard.ErrStale)
//
// and at the service
//
//	fences := guard.NewMemory(nil) // or a guard of package sqlguard, pgxguard, redisguard
//	opts := connect.WithInterceptors(connectguard.Server(fences, nil))
//
// The answers are those of package grpcguard, and so is what a handler should check itself.
package connectguard
