package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/wire"
	"github.com/bedrock-go/bedrock/txn"
)

// framing is what a body may have around its message.
const framing = 4 << 10

// beyondWait is how much longer than a wait a call may take.
const beyondWait = 10 * time.Second

// gate lets requests in: it knows who may do what, and how much at once. A request
// it refuses has cost no more than its headers.
type gate struct {
	next       http.Handler
	auth       *Tokens
	procedures map[string]procedure
	limiter    *limiter
	requests   room
	streams    room
	callers    crowd
	watchers   crowd
	body       int64
	bodyTime   time.Duration
	longest    time.Duration
	slow       time.Duration
	errors     *connect.ErrorWriter
}

func newGate(c *Config, l *Limits, next http.Handler) *gate {
	return &gate{
		next: next, auth: c.Auth, procedures: procedures(), limiter: newLimiter(l.Rate, l.Burst),
		requests: room{size: int64(l.Requests)}, callers: crowd{size: max(l.Requests/2, 1)},
		streams: room{size: int64(l.Streams)}, watchers: crowd{size: l.StreamsEach},
		body: int64(l.Body) + framing, bodyTime: l.BodyTime,
		longest: l.Wait + beyondWait, slow: l.Slow, errors: connect.NewErrorWriter(),
	}
}

// visitor is who makes a request, as the gate sees it.
type visitor struct {
	Credential

	token  [sha256.Size]byte // its hash
	client string            // who shares limits: a token's name, or a network
}

// ServeHTTP implements [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arriving := g.hurry(w, r) // what is refused, too: its body is skipped before it is answered
	if alive(r) {             // who hears that there is no room restarts the server, with all that is under way
		g.next.ServeHTTP(w, r)
		return
	}
	p, ok := g.procedures[r.URL.Path]
	if !ok {
		p.least = page(r)
	}
	who := g.identify(r)
	if err := g.admit(r, who, p.least); err != nil {
		g.refuse(w, r, err)
		return
	}
	inside, err := g.enter(who, p.stream)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	defer inside.leave()
	ctx, cancel := g.bound(w, r, who, p, ok)
	defer cancel()
	r = r.WithContext(ctx)
	g.limit(w, r, arriving)
	if !p.stream {
		g.handOver(w)
	}
	g.next.ServeHTTP(w, r)
}

// handOver bounds how long the answer may take to be taken: who does not read it would
// keep a place, and the answer in memory, for ever.
func (g *gate) handOver(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.longest + g.slow)) // streams bound each message
}

// enter takes a place for a call, which has to be left again. Somebody who only waits
// must not keep out others, whose leases would end.
func (g *gate) enter(who visitor, stream bool) (place, error) {
	p, what := place{&g.requests, &g.callers, who.client}, "calls"
	if stream {
		p, what = place{&g.streams, &g.watchers, who.client}, "streams"
	}
	if !p.whole.enter() {
		return p, tooMuch("%d %s are under way, which is all this server takes", p.whole.size, what)
	}
	if !p.own.enter(who.client) {
		p.whole.leave()
		return p, tooMuch("%s has %d %s under way, which is all one client may", who.client, p.own.size, what)
	}
	return p, nil
}

// bound makes the context of a call: it says who makes it, and ends in time.
func (g *gate) bound(w http.ResponseWriter, r *http.Request, who visitor, p procedure, api bool) (context.Context, context.CancelFunc) {
	ctx := withAdmission(r.Context(), admission{who, p.least, g.auth})
	if who.Name != "" {
		ctx = txn.ContextWithActor(ctx, who.Name)
	}
	if p.stream {
		ctx = withWriter(ctx, w)
	}
	if api && !p.stream { // a store that does not answer would keep the call for ever
		return context.WithTimeout(ctx, g.longest)
	}
	return untilRevoked(ctx)
}

// identify finds out who makes a request.
func (g *gate) identify(r *http.Request) visitor {
	who := visitor{Credential: Credential{Remote: r.RemoteAddr, Role: Admin}, client: network(r.RemoteAddr)}
	if g.auth == nil {
		return who
	}
	who.token = sha256.Sum256([]byte(tokenOf(r)))
	known, ok := g.auth.find(who.token)
	who.Name, who.Role = known.name, known.role
	if ok {
		who.client = "token " + known.name
	}
	return who
}

// admit decides whether a request may come in.
func (g *gate) admit(r *http.Request, who visitor, least Role) error {
	switch {
	case !g.limiter.allow(who.client, time.Now()):
		return tooMuch("too many requests a second from %s", who.client)
	case g.auth == nil && misled(r):
		return connect.NewError(connect.CodePermissionDenied,
			fmt.Errorf("host %.80q is not this server's: without tokens it answers to localhost and addresses only", r.Host))
	case who.Role >= least:
		return nil
	case who.Role == Nobody:
		return connect.NewError(connect.CodeUnauthenticated, errors.New("a valid token is needed"))
	default:
		return connect.NewError(connect.CodePermissionDenied,
			fmt.Errorf("%s is %s; this needs %s", who.Name, who.Role, least))
	}
}

func tooMuch(format string, args ...any) error {
	return wire.Busy(fmt.Errorf(format, args...))
}

// misled tells whether a browser was made to believe that a foreign name is this
// machine: pages of that name could otherwise use a server that trusts everybody
// who reaches its loopback address.
func misled(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	own, _, err := net.SplitHostPort(addr.String())
	if err != nil || !loopback(own) {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.Trim(host, "[]")
	return !loopback(host) && net.ParseIP(host) == nil
}

// refuse answers in the words of the caller's protocol.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	code := connect.CodeOf(err)
	if code == connect.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", challenge(r))
	}
	if _, ok := g.procedures[r.URL.Path]; (ok || strings.HasPrefix(r.URL.Path, apiPrefix)) && g.errors.IsSupported(r) {
		_ = g.errors.Write(w, r, err) // nobody is left to be told
		return
	}
	status := map[connect.Code]int{
		connect.CodeUnauthenticated:   http.StatusUnauthorized,
		connect.CodePermissionDenied:  http.StatusForbidden,
		connect.CodeResourceExhausted: http.StatusTooManyRequests,
	}[code]
	http.Error(w, err.Error(), status)
}

// challenge lets a browser ask for the token as a password.
func challenge(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, apiPrefix) {
		return "Bearer"
	}
	return `Basic realm="Bedrock: the token is the password"`
}

// hurry bounds how long a request's body takes to arrive, and returns what lifts the
// bound again; nil if there is none.
func (g *gate) hurry(w http.ResponseWriter, r *http.Request) *http.ResponseController {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(g.bodyTime)) != nil {
		return nil
	}
	return control
}

// limit bounds how long a request's body is. What comes after the bound is not even
// read: it would be skipped otherwise, however long it is.
func (g *gate) limit(w http.ResponseWriter, r *http.Request, arriving *http.ResponseController) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, g.body)
	if arriving != nil {
		r.Body = &hurried{r.Body, arriving}
	}
}

// hurried is a body that must arrive in time. Once it has, the connection may be
// silent for as long as the answer takes.
type hurried struct {
	io.ReadCloser

	control *http.ResponseController
}

// Read implements [io.Reader].
func (h *hurried) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if err == io.EOF { // after anything else the limit stays, for what is still to be read
		_ = h.control.SetReadDeadline(time.Time{}) // it could be set before
		return n, err
	}
	return n, blamed(err)
}

// blamed marks what can only be wrong with the client's framing, such as chunks that are
// none, as the client's fault.
func blamed(err error) error {
	var network net.Error
	var large *http.MaxBytesError
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) || errors.As(err, &large) {
		return err
	}
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("the body cannot be read: %w", err))
}
