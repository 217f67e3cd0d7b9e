package client_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine runs a coordinator on a store in memory until the test ends.
func engine(t testing.TB, functions map[string]txn.Func) *coord.Coordinator {
	t.Helper()
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range functions {
		if err := co.Register(name, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := co.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = co.Stop(context.Background()) })
	return co
}

// handler serves a coordinator and locks in memory.
func handler(t testing.TB, co *coord.Coordinator, change func(*server.Options)) http.Handler {
	t.Helper()
	s := server.Services{Coordinator: co, Inspector: co, Operator: co, Topics: co, Locks: memlock.NewBackend(nil)}
	var o server.Options
	if change != nil {
		change(&o)
	}
	h, err := server.New(s, &o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// instant is a coordinator that does nothing: what is left is the wire.
type instant struct{ txn.Coordinator }

func (instant) Run(_ context.Context, d txn.Definition) (txn.Result, error) {
	return txn.Result{ID: d.ID, Outcome: txn.Committed}, nil
}

// instantHandler serves a coordinator that does nothing.
func instantHandler(t testing.TB) http.Handler {
	t.Helper()
	return coordinated(t, instant{})
}

// coordinated serves a coordinator and nothing else.
func coordinated(t testing.TB, co txn.Coordinator) http.Handler {
	t.Helper()
	h, err := server.New(server.Services{Coordinator: co}, &server.Options{Limits: &server.Limits{Rate: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// site is a server that can be stopped and started again at its address.
type site struct {
	t       testing.TB
	handler http.Handler
	addr    string
	stop    context.CancelFunc
	done    chan error
}

func serve(t testing.TB, h http.Handler) *site {
	t.Helper()
	s := &site{t: t, handler: h, addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.end)
	return s
}

func (s *site) start() {
	s.t.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.stop, s.done = cancel, make(chan error, 1)
	go func() { s.done <- server.Serve(ctx, l, s.handler, nil) }()
}

// end stops the server; it may be called again.
func (s *site) end() {
	s.stop()
	select {
	case err, ok := <-s.done:
		if ok && err != nil {
			s.t.Errorf("serve: %v", err)
		}
		if ok {
			close(s.done)
		}
	case <-time.After(20 * time.Second):
		s.t.Error("the server does not stop")
	}
}

func (s *site) url() string { return "http://" + s.addr }

func dial(t testing.TB, url string, opts *client.Options) *client.Client {
	t.Helper()
	c, err := client.Dial(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// setup is a client of a server of a coordinator with functions.
func setup(t testing.TB, functions map[string]txn.Func) *client.Client {
	t.Helper()
	return dial(t, serve(t, handler(t, engine(t, functions), nil)).url(), nil)
}
