package chaos

import (
	"bytes"
	"math/rand/v2"
	"time"
)

// fault is what a proxy does wrong at present.
type fault struct {
	cut   bool
	hole  Direction
	delay time.Duration
	// jitter makes the delay a random one, up to delay, for each chunk.
	jitter bool
	drop   drop
	strand prey
}

// drop says which replies are lost.
type drop struct {
	prey

	share float64 // of all replies, whatever is left
}

// prey are requests that a fault waits for.
type prey struct {
	left int    // how many more
	word []byte // lower case; only requests that contain it
}

// catches reports whether a request is one of them, and counts down.
func (p *prey) catches(request []byte) bool {
	if p.left <= 0 || !bytes.Contains(bytes.ToLower(request), p.word) {
		return false
	}
	p.left--
	return true
}

// Cut closes every connection and every new one at once.
func (p *Proxy) Cut() {
	p.changeFault(func(f *fault) { f.cut = true })
	for _, l := range p.open() {
		p.cutLink(l)
	}
}

// BlackHole swallows the bytes of one or both directions and keeps connections
// open, also new ones. A connection that lost bytes is closed by Heal, because
// TCP never delivers a stream with a gap.
func (p *Proxy) BlackHole(d Direction) { p.changeFault(func(f *fault) { f.hole = d }) }

// Strand swallows the bytes of both directions of every connection that is open now,
// and of no new one, as a router does that has forgotten them.
func (p *Proxy) Strand() {
	for _, l := range p.open() {
		l.stranded.Store(true)
	}
}

// StrandAfter is Strand for the connections over which the next n requests are sent that
// contain word, in upper or lower case: the request reaches the server, its answer goes
// nowhere, and nobody is told.
func (p *Proxy) StrandAfter(word string, n int) {
	lower := bytes.ToLower([]byte(word))
	p.changeFault(func(f *fault) { f.strand = prey{left: n, word: lower} })
}

// Delay holds up every chunk of bytes, in both directions, by d.
func (p *Proxy) Delay(d time.Duration) {
	p.changeFault(func(f *fault) { f.delay, f.jitter = d, false })
}

// Jitter holds up every chunk of bytes by a time of its own, up to most: what is sent over
// one connection may overtake what was sent before it over another.
func (p *Proxy) Jitter(most time.Duration) {
	p.changeFault(func(f *fault) { f.delay, f.jitter = most, true })
}

// DropReplies loses the next n replies: the request reaches the server, its
// answer is swallowed and the connection closed, so that the client cannot know
// what happened. Any bytes from the client count as a request, also those by
// which a client greets the server; see [Proxy.DropRepliesTo].
func (p *Proxy) DropReplies(n int) { p.DropRepliesTo("", n) }

// DropRepliesTo is DropReplies for requests that contain word, such as
// "evalsha", in upper or lower case.
func (p *Proxy) DropRepliesTo(word string, n int) {
	lower := bytes.ToLower([]byte(word))
	p.changeFault(func(f *fault) { f.drop = drop{prey: prey{left: n, word: lower}} })
}

// Retarget forwards to another server from now on, as an address does that moves in a
// fail-over. Connections to the former one are cut.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	for _, l := range p.open() {
		p.cutLink(l)
	}
}

// LoseReplies loses a share of all replies, from 0 to 1, as DropReplies does.
func (p *Proxy) LoseReplies(share float64) {
	p.changeFault(func(f *fault) { f.drop = drop{share: share} })
}

// Heal ends every fault and closes the connections that lost bytes.
func (p *Proxy) Heal() {
	p.changeFault(func(f *fault) { *f = fault{} })
	for _, l := range p.open() {
		if l.lossy.Load() {
			p.cutLink(l)
		}
	}
}

// changeFault changes the fault.
func (p *Proxy) changeFault(change func(*fault)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.fault)
}

// cutLink closes a connection and counts it.
func (p *Proxy) cutLink(l *link) {
	l.close(func() { p.addEvidence(func(e *Evidence) { e.Cut++ }) })
}

// addEvidence adds evidence.
func (p *Proxy) addEvidence(add func(*Evidence)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	add(&p.seen)
}

// swallows reports whether bytes of a direction are lost now, and counts them.
func (p *Proxy) swallows(d Direction, n int, stranded bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := stranded || p.fault.hole&d != 0
	if lost {
		p.seen.BytesSwallowed += int64(n)
	}
	return lost
}

// dooms reports whether the reply to a request is to be lost, and counts down.
func (p *Proxy) dooms(request []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := &p.fault.drop
	if d.share > 0 {
		return rand.Float64() < d.share
	}
	return d.catches(request)
}

// strands reports whether nothing is to pass any more after a request, and counts down.
func (p *Proxy) strands(request []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault.strand.catches(request)
}

// waitDelay waits for the delay in force. It returns early when the proxy closes.
func (p *Proxy) waitDelay() {
	p.mu.Lock()
	delay := p.fault.delay
	if p.fault.jitter && delay > 0 {
		delay = rand.N(delay) + 1
	}
	if delay > 0 {
		p.seen.Delayed++
	}
	p.mu.Unlock()
	if delay <= 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
}
