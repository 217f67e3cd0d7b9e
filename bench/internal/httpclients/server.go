package httpclients

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// Role is that of the child that answers calls.
const Role = "httpserver"

// Serve is the life of the server: it answers all calls alike, over HTTP/1.1 and HTTP/2.
func Serve(ctx context.Context, pipe *child.Pipe) error {
	if err := pipe.Job(new(struct{})); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	server := &http.Server{Handler: handler(), Protocols: new(http.Protocols)} //nolint:gosec // loopback
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(listener) }()
	return pipe.Serve(listener.Addr().String(), func(name string, _ json.RawMessage) (any, error) {
		return nil, fmt.Errorf("no order is called %q", name)
	})
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(bedrockv1connect.NewLockServiceHandler(locks{}))
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header()["Content-Type"] = []string{"application/json"}
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	return mux
}

// locks grants what is asked for.
type locks struct {
	bedrockv1connect.UnimplementedLockServiceHandler
}

// Acquire implements [bedrockv1connect.LockServiceHandler].
func (locks) Acquire(_ context.Context, r *bedrockv1.AcquireRequest) (*bedrockv1.AcquireResponse, error) {
	grant := &bedrockv1.Grant{Name: r.GetName(), Owner: r.GetOwner(), Token: 1, Tokens: 1, Ttl: r.GetTtl()}
	return &bedrockv1.AcquireResponse{Grant: grant}, nil
}
