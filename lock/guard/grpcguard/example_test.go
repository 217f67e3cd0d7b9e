package grpcguard_test

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/grpcguard"
)

func Example() {
	store := guard.NewMemory(nil) // or a guard of package sqlguard, pgxguard, redisguard
	server := grpc.NewServer(
		grpc.UnaryInterceptor(grpcguard.UnaryServer(store, nil)),
		grpc.StreamInterceptor(grpcguard.StreamServer(store, nil)))
	defer server.Stop()

	conn, err := grpc.NewClient("orders:443", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(grpcguard.UnaryClient()),
		grpc.WithStreamInterceptor(grpcguard.StreamClient()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	// _, err = ordersv1.NewOrdersClient(conn).Pay(lease.Context(), request)
	// if errors.Is(err, guard.ErrStale) …
}
