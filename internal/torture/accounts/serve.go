package accounts

import (
	"context"
	"net"
	"net/http"
	"time"
)

// patience is how long a client has for its headers, and a call for its end when the
// participant stops.
const patience = 30 * time.Second

// Serve answers calls until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	web := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return web.Shutdown(bounded)
}
