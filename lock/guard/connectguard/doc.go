// Package connectguard carries the token of a lock between connect clients and handlers, over any of their protocols,
// and refuses stale ones. It does what package grpcguard does for grpc-go; each understands the other.
//
//	orders := ordersv1connect.NewOrdersClient(http.DefaultClient, url,
//		connect.WithInterceptors(connectguard.Client()))
//	_, err = orders.Pay(lease.Context(), request) // errors.Is(err, guard.ErrStale), if it was refused
//
// and at the service
//
//	connect.WithInterceptors(connectguard.Server(store, nil))
//
// The answers are those of package grpcguard, and so is what a handler should check itself.
package connectguard
