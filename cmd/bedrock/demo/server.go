package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// server serves a lock backend in this program's memory, and the ledger, over a
// Unix socket that only this user can open.
type server struct {
	dir, socket string
	http        http.Server
	backend     driver.Backend
	ledger      *ledger
}

func startServer(ctx context.Context, ledger *ledger) (*server, error) {
	dir, err := os.MkdirTemp("", "bedrock-demo-") // nobody else may enter it
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	s := &server{dir: dir, socket: filepath.Join(dir, "socket"), backend: memlock.NewBackend(nil), ledger: ledger}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", s.socket)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), os.RemoveAll(dir))
	}
	s.http.Handler, s.http.ReadHeaderTimeout = s.routes(), time.Minute
	go func() { _ = s.http.Serve(listener) }() // until close
	return s, nil
}

func (s *server) close() {
	_ = s.http.Close()
	_ = os.RemoveAll(s.dir)
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /acquire", answerJSON(func(r *http.Request, req driver.Request) (driver.Grant, error) {
		return s.backend.Acquire(r.Context(), req)
	}))
	mux.HandleFunc("POST /renew", answerJSON(func(r *http.Request, grants []driver.Grant) ([]*wireError, error) {
		errs := s.backend.Renew(r.Context(), grants)
		wired := make([]*wireError, len(errs))
		for i, err := range errs {
			wired[i] = toWire(err)
		}
		return wired, nil
	}))
	mux.HandleFunc("POST /release", answerJSON(func(r *http.Request, g driver.Grant) (int, error) {
		return s.backend.Release(r.Context(), g)
	}))
	mux.HandleFunc("POST /read", answerJSON(func(_ *http.Request, t turn) (int, error) {
		return s.ledger.read(t.Worker, t.Token)
	}))
	mux.HandleFunc("POST /write", answerJSON(func(_ *http.Request, t turn) (struct{}, error) {
		return struct{}{}, s.ledger.write(t.Worker, t.Token, t.Balance)
	}))
	mux.HandleFunc("GET /watch", s.watchLock)
	return mux
}

// answerJSON makes a handler of a function from one JSON value to another.
func answerJSON[In, Out any](do func(*http.Request, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r, in)
		_ = json.NewEncoder(w).Encode(reply[Out]{out, toWire(err)}) // the worker may be gone
	}
}

// watchLock sends one byte when it listens, and one whenever the lock may be free.
func (s *server) watchLock(w http.ResponseWriter, r *http.Request) {
	watch, err := s.backend.(driver.Waiter).Watch(r.Context(), r.FormValue("name"), driver.Mutex)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer watch.Close()
	out := http.NewResponseController(w)
	for {
		if _, err := w.Write([]byte("\n")); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-watch.C():
		case <-r.Context().Done():
			return
		}
	}
}
