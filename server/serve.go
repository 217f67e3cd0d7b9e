package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How a server treats connections.
const (
	headerTime  = 10 * time.Second
	idleTime    = 3 * time.Minute
	headerBytes = 64 << 10
	streamsEach = 1000             // of one HTTP/2 connection
	pingAfter   = 30 * time.Second // of silence on an HTTP/2 connection
	pingTimeout = 15 * time.Second
	farewell    = 10 * time.Second // for calls under way when the server stops
)

// Serve answers requests on a listener until ctx ends; then it lets calls under way
// finish for some seconds, and ends streams and waits at once: their clients go on
// elsewhere, or here when the server is back. HTTP/2 is spoken with TLS and without.
func Serve(ctx context.Context, l net.Listener, h http.Handler, config *tls.Config) error {
	drain, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	calls, left := withBackground(withDrain(context.WithoutCancel(drain), drain))
	s := newServer(calls, h, config)
	served := make(chan error, 1)
	go func() { served <- serveListener(s, l) }()
	select {
	case err := <-served:
		left.stop()
		return fmt.Errorf("server: %w", errors.Join(err, s.Close()))
	case <-ctx.Done():
	}
	stop()
	err := shutDown(ctx, s, left)
	if last := <-served; !errors.Is(last, http.ErrServerClosed) {
		err = errors.Join(err, last)
	}
	return err
}

func newServer(calls context.Context, h http.Handler, config *tls.Config) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, TLSConfig: config, Protocols: protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streamsEach, SendPingTimeout: pingAfter, PingTimeout: pingTimeout,
		},
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		BaseContext: func(net.Listener) context.Context { return calls },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // what clients do wrong is not news
	}
}

func serveListener(s *http.Server, l net.Listener) error {
	if s.TLSConfig != nil {
		return s.ServeTLS(l, "", "")
	}
	return s.Serve(l)
}

// shutDown lets calls and what they have left to do end, within the same time.
func shutDown(ctx context.Context, s *http.Server, left *background) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := s.Shutdown(ctx)
	defer left.waitOrCancel(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("server: calls were cut off: %w", errors.Join(err, s.Close()))
}
