package chaos

import (
	"net"
	"sync"
	"sync/atomic"
)

// chunkSize is how much one read takes; clients' requests are far smaller.
const chunkSize = 32 << 10

// link is one forwarded connection.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	closed         atomic.Bool
	lossy          atomic.Bool // bytes were swallowed
	stranded       atomic.Bool // nothing passes any more
	// doomed says that the next reply is to be lost. The lock is held while a
	// request is forwarded, so that a reply is never judged before its request
	// has gone out.
	mu     sync.Mutex
	doomed bool
}

// close ends the link. If it was open, noted is called first: whoever sees the end
// sees the evidence, too.
func (l *link) close(noted func()) {
	if l.closed.Swap(true) {
		return
	}
	noted()
	reset(l.client)
	_ = l.server.Close() // politely: what was forwarded must arrive
}

// closeBoth ends the link because one side has.
func (l *link) closeBoth() { l.close(func() {}) }

// pumpRequests forwards from the client to the server.
func (l *link) pumpRequests() {
	defer l.closeBoth()
	l.pump(l.client, Requests, l.forwardRequest)
}

// pumpReplies forwards from the server to the client.
func (l *link) pumpReplies() {
	defer l.closeBoth()
	l.pump(l.server, Replies, l.forwardReply)
}

// pump reads chunks until the connection ends or a chunk cannot be forwarded.
func (l *link) pump(from net.Conn, d Direction, forward func([]byte) bool) {
	buf := make([]byte, chunkSize)
	for {
		n, err := from.Read(buf)
		if n > 0 && !l.pass(d, buf[:n], forward) || err != nil {
			return
		}
	}
}

// pass forwards a chunk unless a fault swallows it, and reports whether to go on.
func (l *link) pass(d Direction, chunk []byte, forward func([]byte) bool) bool {
	l.proxy.waitDelay()
	if l.proxy.swallows(d, len(chunk), l.stranded.Load()) {
		l.lossy.Store(true)
		return true
	}
	return forward(chunk)
}

func (l *link) forwardRequest(chunk []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proxy.dooms(chunk) {
		l.doomed = true
	}
	if l.proxy.strands(chunk) {
		l.stranded.Store(true)
	}
	_, err := l.server.Write(chunk)
	return err == nil
}

func (l *link) forwardReply(chunk []byte) bool {
	if l.isDoomed() {
		l.loseReply(chunk)
		return false
	}
	_, err := l.client.Write(chunk)
	return err == nil
}

func (l *link) isDoomed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doomed
}

// loseReply drops a reply together with its connection.
func (l *link) loseReply(chunk []byte) {
	l.proxy.addEvidence(func(e *Evidence) {
		e.RepliesLost++
		e.BytesSwallowed += int64(len(chunk))
	})
	l.proxy.cutLink(l)
}
