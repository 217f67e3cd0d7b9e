package zklock

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// The answer to the first request says for how long the session lasts, and its number. The library waits for it for
// seven times the session, and for its rest for ever.
const (
	handshake = 40
	timeoutAt = 8
	numberAt  = 12
)

// How long a server may be silent, so that another one is found while the session lives.
const (
	shortestSilence  = 200 * time.Millisecond
	longestHandshake = time.Second
	longestSilence   = 5 * time.Second
)

// The library tells the server of each new connection which watches it has, and from which transaction on it has
// missed what they would have told. That is the last one of which it has read, and if it has read replies over the new
// connection by then, whatever came before them is not told. So those are held back until it has spoken, or for a
// moment: it says nothing if it has no watches.
const (
	longestHold  = 100 * time.Millisecond
	operationAt  = 8
	operationEnd = 12
	setWatches   = 101
)

// The library would show the servers who this is by a request like all others: those that are made before it is
// answered come from nobody, and if it fails since there is no server, so do all that come later. So it goes before
// the first request over each connection, by the number that is for it.
const (
	authenticate = 100
	authNumber   = -4
)

// credentialsOf is the request by which the servers are shown who this is; nil if nobody is named.
func credentialsOf(opts *Options) []byte {
	if opts.Username == "" {
		return nil
	}
	var b []byte
	for _, number := range []int32{authNumber, authenticate, 0} {
		b = binary.BigEndian.AppendUint32(b, uint32(number))
	}
	for _, text := range []string{"digest", opts.Username + ":" + opts.Password} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// link is a connection to a server that is given up when the server says nothing for too long, in the handshake or
// after a request.
type link struct {
	net.Conn

	until time.Time // the server has to have answered the first request

	mu      sync.Mutex
	answer  []byte        // to the first request
	silence time.Duration // the longest one after another
	timer   *time.Timer   // runs while one is unanswered
	waits   bool

	hold    time.Duration // for how long replies are held back at most, 0 if they are not
	watches chan struct{} // is closed when the library has told of its watches

	credentials []byte // go before the first request

	address string
	tell    func(error) // is told why the first request was not answered
}

// newLink watches a connection of a session that is to last for so long. It may be one after another.
func newLink(conn net.Conn, session time.Duration, another bool) *link {
	first := min(max(session/8, shortestSilence), longestHandshake)
	l := &link{
		Conn: conn, until: time.Now().Add(first), silence: longestSilence, watches: make(chan struct{}),
	}
	if another {
		l.hold = longestHold
	}
	l.timer = time.AfterFunc(longestSilence, func() { _ = conn.Close() })
	l.timer.Stop()
	return l
}

// session is the number of the session, and how long it lasts, as the server has said.
func (l *link) session() (number int64, lasts time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.answer) < handshake {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(l.answer[numberAt:])), l.sessionTime()
}

// sessionTime is how long the session lasts. l.mu is held.
func (l *link) sessionTime() time.Duration {
	if len(l.answer) < handshake {
		return 0
	}
	return time.Duration(binary.BigEndian.Uint32(l.answer[timeoutAt:])) * time.Millisecond
}

// SetReadDeadline implements [net.Conn]: until the server has answered the first request, no other deadline counts.
func (l *link) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	begins := len(l.answer) < handshake
	l.mu.Unlock()
	if begins {
		t = l.until
	}
	return l.Conn.SetReadDeadline(t)
}

// Read implements [net.Conn].
func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 && l.enterAnswer(b[:n]) {
		l.awaitWatches()
	}
	if failed := l.checkAnswer(err); failed != nil {
		return 0, failed
	}
	return n, err
}

// enterAnswer enters what the server has said, and reports whether that is more than its answer to the first request.
func (l *link) enterAnswer(b []byte) (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = false
	l.timer.Stop()
	missing := handshake - len(l.answer)
	if missing <= 0 {
		return true
	}
	l.answer = append(l.answer, b[:min(len(b), missing)]...)
	if lasts := l.sessionTime(); lasts > 0 {
		l.silence = min(max(lasts/3, shortestSilence), longestSilence)
	}
	return false
}

// awaitWatches waits until the library has told of its watches, or does not.
func (l *link) awaitWatches() {
	l.mu.Lock()
	hold := l.hold
	l.mu.Unlock()
	if hold == 0 {
		return
	}
	late := time.NewTimer(hold)
	defer late.Stop()
	select {
	case <-l.watches:
	case <-late.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold = 0
}

// enterRequest enters what the library asks for. l.mu is held.
func (l *link) enterRequest(b []byte) {
	if len(b) < operationEnd {
		return
	}
	if binary.BigEndian.Uint32(b[operationAt:operationEnd]) != setWatches {
		return
	}
	select {
	case <-l.watches: // there may be several parts
	default:
		close(l.watches)
	}
}

// Write implements [net.Conn].
func (l *link) Write(b []byte) (int, error) {
	var first []byte
	l.mu.Lock()
	if len(l.answer) >= handshake {
		l.enterRequest(b)
		first, l.credentials = l.credentials, nil
		if !l.waits {
			l.waits = true
			l.timer.Reset(l.silence)
		}
	}
	l.mu.Unlock()
	if len(first) > 0 {
		if _, err := l.Conn.Write(first); err != nil {
			return 0, err
		}
	}
	return l.Conn.Write(b)
}

// Close implements [net.Conn].
func (l *link) Close() error {
	l.timer.Stop()
	return l.Conn.Close()
}
