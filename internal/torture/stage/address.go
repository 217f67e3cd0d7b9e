package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
)

// HostOf is the host and port of a URL.
func HostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// Through is a URL that leads to another address, and is the same otherwise.
func Through(url, addr string) string {
	return strings.Replace(url, HostOf(url), addr, 1)
}

// FreeAddr is an address that nobody listens on just now.
func FreeAddr() (string, error) {
	for range 100 {
		// Below the ports that the system gives out by itself, so that no connection sits
		// on it when the server is started again.
		addr := fmt.Sprintf("127.0.0.1:%d", 6000+rand.IntN(4900))
		if l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no free port")
}

// Listen takes an address that a killed predecessor may just have left.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
		if err == nil || !sleep.For(ctx, 20*time.Millisecond) {
			return l, err
		}
	}
}
