package etcdlock_test

import (
	"context"
	"path"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// counted counts what a client sends.
type counted struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counted) add(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = make(map[string]int)
	}
	c.calls[path.Base(method)]++
}

// of returns how often a method was called, or something was sent over its streams.
func (c *counted) of(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

// all returns how many calls there were.
func (c *counted) all() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.calls {
		n += of
	}
	return n
}

// countedStream counts what is sent over a stream.
type countedStream struct {
	grpc.ClientStream
	counted *counted
	method  string
}

// SendMsg implements [grpc.ClientStream].
func (s *countedStream) SendMsg(m any) error {
	s.counted.add(s.method)
	return s.ClientStream.SendMsg(m)
}

// connectCounted returns a client whose calls are counted.
func connectCounted(t *testing.T, c *counted, endpoints ...string) *clientv3.Client {
	t.Helper()
	unary := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		c.add(method)
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	stream := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer,
		opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		s, err := open(ctx, desc, cc, method, opts...)
		if err != nil {
			return nil, err
		}
		return &countedStream{s, c, method}, nil
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(unary), grpc.WithChainStreamInterceptor(stream)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// startFull starts a member that may have little.
func startFull(t *testing.T) *testenv.EtcdMember {
	t.Helper()
	opts := testenv.EtcdOptions{Args: []string{"--quota-backend-bytes=4000000"}}
	return testenv.StartEtcd(t, &opts).Members[0]
}

// waitFor lets time pass in which nothing may happen.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
