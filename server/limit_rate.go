package server

import (
	"net/netip"
	"sync"
	"time"
)

// maxClients bounds the clients that are told apart. Beyond it new ones share.
const maxClients = 10_000

// limiter gives every client a bucket that fills with time: a request takes one
// token out.
type limiter struct {
	rate, burst float64

	mu      sync.Mutex
	clients map[string]*bucket
	rest    bucket // of those that are not told apart
	swept   time.Time
}

type bucket struct {
	left float64
	at   time.Time
}

// newLimiter returns nil, which limits nothing, for a negative rate.
func newLimiter(rate, burst int) *limiter {
	if rate < 0 {
		return nil
	}
	return &limiter{rate: float64(rate), burst: float64(burst), clients: make(map[string]*bucket)}
}

// allow takes a token out of the client's bucket.
func (l *limiter) allow(client string, now time.Time) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(client, now)
	l.refill(b, now)
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// bucket finds a client's bucket. l.mu is held.
func (l *limiter) bucket(client string, now time.Time) *bucket {
	b, ok := l.clients[client]
	if ok {
		return b
	}
	if len(l.clients) >= maxClients && !l.removeFull(now) {
		return &l.rest
	}
	b = &bucket{left: l.burst, at: now}
	l.clients[client] = b
	return b
}

// removeFull forgets clients whose buckets are full, at most once a second. It reports
// whether there is room. l.mu is held.
func (l *limiter) removeFull(now time.Time) bool {
	if now.Sub(l.swept) < time.Second {
		return false
	}
	l.swept = now
	for client, b := range l.clients {
		if l.refill(b, now); b.left >= l.burst {
			delete(l.clients, client)
		}
	}
	return len(l.clients) < maxClients
}

func (l *limiter) refill(b *bucket, now time.Time) {
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.left, b.at = min(l.burst, b.left+passed*l.rate), now
	}
}

// network is what tells unknown clients apart: the address, or, with IPv6, the part of it
// that a subscriber cannot choose.
func network(remote string) string {
	addr, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	ip := addr.Addr().Unmap()
	if ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.Prefix(64) // 64 bits are never too many
	return prefix.String()
}
