package httpclients

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Promise is what Bedrock needs of a client.
type Promise struct {
	Name string
	// examine returns how a client breaks it.
	examine func(ctx context.Context, open func(address string) (Client, error)) error
}

// Finding is what an examination has found.
type Finding struct {
	Promise, Candidate string
	Broken             error // nil: kept
}

// patience is how long a client may take to notice what it should notice at once.
const patience = 2 * time.Second

// Promises returns all of them.
func Promises() []Promise {
	return []Promise{
		{"A call that may have arrived is not sent again", sentOnce},
		{"An error says whether a call may have arrived", errorsTell},
		{"A restart of the server between two calls is not felt", restartNotFelt},
		{"A call ends with its context", endsWithContext},
		{"A call ends with its deadline", endsWithDeadline},
		{"A call whose context has ended hangs up", hangsUp},
		{"A reply's headers are bounded", headersBounded},
		{"A reply's body is bounded, and its status counts", bodyBounded},
		{"A reply that breaks off is an error", brokenOff},
		{"What comes after a reply does not answer the next call", surplusDropped},
		{"What only announces a reply is passed over", interimPassed},
	}
}

// Examine examines candidates that speak HTTP/1.1, as participants do.
func Examine(ctx context.Context, candidates []Candidate) []Finding {
	var all []Finding
	for _, p := range Promises() {
		for _, c := range candidates {
			if c.Participants {
				all = append(all, Finding{p.Name, c.Name, p.examine(ctx, c.Open)})
			}
		}
	}
	return all
}

// examination is a client and the peer that it calls.
type examination struct {
	*peer
	Client
}

// examined runs an examination of a client with a peer of its own.
func examined(
	open func(address string) (Client, error), handle func(*peer, *link, int64), run func(examination) error,
) error {
	p, err := newPeer(handle)
	if err != nil {
		return err
	}
	defer p.close()
	c, err := open(p.listener.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	return run(examination{p, c})
}

// wantFine makes a call that must be answered.
func (e examination) wantFine(ctx context.Context) error {
	reply, err := e.Post(ctx)
	if err != nil {
		return err
	}
	if reply.Status != http.StatusOK || string(reply.Body) != "fine" {
		return fmt.Errorf("answered %d, %q", reply.Status, reply.Body)
	}
	return nil
}

// sentOnce: the server reads a call on a kept connection, and closes it.
func sentOnce(ctx context.Context, open func(string) (Client, error)) error {
	return examined(open, func(_ *peer, c *link, _ int64) {
		if c.receiveRequest() && c.say(fine) {
			c.receiveRequest()
		}
	}, func(e examination) error {
		if err := e.wantFine(ctx); err != nil {
			return err
		}
		_, err := e.Post(ctx)
		if n := e.requests.Load() - 1; n != 1 {
			return fmt.Errorf("sent %d times (%v)", n, err)
		}
		return nil
	})
}

// errorsTell: one call finds nobody, another one is read and not answered.
func errorsTell(ctx context.Context, open func(string) (Client, error)) error {
	return examined(open, func(_ *peer, c *link, _ int64) { c.receiveRequest() }, func(e examination) error {
		if _, err := e.Post(ctx); err == nil || errors.Is(err, errUnsent) {
			return fmt.Errorf("one that was read and not answered is called %v", err) //nolint:errorlint // its text
		}
		e.listener.Close()
		if _, err := e.Post(ctx); !errors.Is(err, errUnsent) {
			return fmt.Errorf("one that found nobody is called %v", err) //nolint:errorlint // its text
		}
		return nil
	})
}

// restarts is how often a server is restarted: what goes well once may be luck.
const restarts = 200

// restartNotFelt: the server closes each connection after its first answer.
func restartNotFelt(ctx context.Context, open func(string) (Client, error)) error {
	closed := make(chan struct{})
	return examined(open, func(p *peer, c *link, _ int64) {
		if c.receiveRequest() && c.say(fine) {
			c.Close()
		}
		select {
		case closed <- struct{}{}:
		case <-p.over:
		}
	}, func(e examination) error {
		felt := 0
		for range restarts {
			if err := e.wantFine(ctx); err != nil {
				felt++
				continue
			}
			<-closed
		}
		if felt > 0 {
			return fmt.Errorf("%d of %d calls failed", felt, restarts)
		}
		return nil
	})
}

// endsWithContext: the server is silent, and the context is cancelled.
func endsWithContext(ctx context.Context, open func(string) (Client, error)) error {
	return silent(open, func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }, true)
}

// endsWithDeadline: the server is silent until the deadline has passed.
func endsWithDeadline(ctx context.Context, open func(string) (Client, error)) error {
	const soon = 50 * time.Millisecond
	return silent(open, func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, soon) }, false)
}

// silent makes a call that is not answered before patience is over.
func silent(
	open func(string) (Client, error), limited func() (context.Context, context.CancelFunc), giveUp bool,
) error {
	read := make(chan struct{})
	return examined(open, func(p *peer, c *link, _ int64) {
		c.receiveRequest()
		close(read)
		select {
		case <-time.After(patience):
		case <-p.over:
		}
	}, func(e examination) error {
		ctx, cancel := limited()
		defer cancel()
		if giveUp {
			go func() { <-read; cancel() }()
		}
		began := time.Now()
		_, err := e.Post(ctx)
		if took := time.Since(began); took >= patience {
			return fmt.Errorf("it went on until the server hung up (%v)", err) //nolint:errorlint // its text
		}
		return nil
	})
}

// hangsUp: the server is silent, the context is cancelled, and the server waits for the
// end of the connection.
func hangsUp(ctx context.Context, open func(string) (Client, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	return examined(open, func(p *peer, c *link, _ int64) {
		c.receiveRequest()
		cancel()
		c.receiveRequest()
		select {
		case <-p.over:
		default:
			close(ended)
		}
	}, func(e examination) error {
		go func() { _, _ = e.Post(ctx) }() // ends with the peer at the latest
		select {
		case <-ended:
			return nil
		case <-time.After(patience):
			return errors.New("the connection stays open, and what calls over it stays behind")
		}
	})
}

// brokenOff: the server closes its connection in the middle of a reply.
func brokenOff(ctx context.Context, open func(string) (Client, error)) error {
	return examined(open, func(_ *peer, c *link, _ int64) {
		if c.receiveRequest() {
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfine")
		}
	}, func(e examination) error {
		if reply, err := e.Post(ctx); err == nil {
			return fmt.Errorf("answered %d, %q", reply.Status, reply.Body)
		}
		return nil
	})
}

// flood is how much a server sends that knows no end.
const flood = 64 << 20

// pour writes a text until flood is reached; false when the client has hung up.
func (c *link) pour(text string) bool {
	for sent := 0; sent < flood; sent += len(text) {
		if !c.say(text) {
			return false
		}
	}
	return true
}

// headersBounded: the headers of a reply go on and on.
func headersBounded(ctx context.Context, open func(string) (Client, error)) error {
	line := strings.Repeat("A: "+strings.Repeat("b", 1020)+"\r\n", 64)
	return examined(open, func(_ *peer, c *link, _ int64) {
		if c.receiveRequest() && c.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n") && c.pour(line) {
			c.say("\r\nfine")
		}
	}, func(e examination) error {
		if reply, err := e.Post(ctx); err == nil {
			return fmt.Errorf("%d MB of headers were taken, status %d", flood>>20, reply.Status)
		}
		return nil
	})
}

// bodyBounded: a reply is far longer than a result may be. It is done all the same.
func bodyBounded(ctx context.Context, open func(string) (Client, error)) error {
	for _, head := range []string{"Content-Length: 1073741824\r\n", "Connection: close\r\n"} {
		err := examined(open, func(_ *peer, c *link, _ int64) {
			if c.receiveRequest() && c.say("HTTP/1.1 200 OK\r\n"+head+"\r\n") {
				c.pour(strings.Repeat("x", 64<<10))
			}
		}, func(e examination) error {
			reply, err := e.Post(ctx)
			if err != nil || reply.Status != http.StatusOK || !reply.Cut {
				//nolint:errorlint // err may be nil
				return fmt.Errorf("%s: status %d, %v", strings.TrimSpace(head), reply.Status, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// surplusDropped: the server says more on its first connection than it was asked.
func surplusDropped(ctx context.Context, open func(string) (Client, error)) error {
	answered, said := make(chan struct{}), make(chan struct{})
	return examined(open, func(p *peer, c *link, number int64) {
		if number > 1 {
			c.answerAll(fine)
			return
		}
		if c.receiveRequest() && c.say(fine) {
			<-answered
			c.say(strings.ReplaceAll(fine, "fine", "evil"))
			close(said)
			<-p.over
		}
	}, func(e examination) error {
		err := e.wantFine(ctx)
		close(answered)
		if err != nil {
			return err
		}
		<-said
		return e.wantFine(ctx)
	})
}

// interimPassed: an interim reply comes before the reply.
func interimPassed(ctx context.Context, open func(string) (Client, error)) error {
	return examined(open, func(_ *peer, c *link, _ int64) {
		c.answerAll("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" + fine)
	}, func(e examination) error {
		return errors.Join(e.wantFine(ctx), e.wantFine(ctx))
	})
}
