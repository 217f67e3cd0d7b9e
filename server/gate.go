package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

// framing is what a body may have around its message.
const framing = 4 << 10

// beyondWait is how much longer than a wait a call may take.
const beyondWait = 10 * time.Second

// gate lets requests in: it knows who may do what, and how much at once. A request
// it refuses has cost no more than its headers.
type gate struct {
	api        http.Handler
	mounts     *mounts
	live       http.HandlerFunc
	tokens     *auth.Tokens
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
	logger     *slog.Logger
}

func newGate(o *Options, api http.Handler, beside *mounts, live http.HandlerFunc) *gate {
	l := o.Limits
	return &gate{
		api: api, mounts: beside, live: live, procedures: procedures(),
		tokens: o.Tokens, limiter: newLimiter(l.Rate, l.Burst),
		requests: room{size: int64(l.Requests)}, callers: crowd{size: max(l.Requests/2, 1)},
		streams: room{size: int64(l.Streams)}, watchers: crowd{size: l.StreamsEach},
		body: int64(l.Body) + framing, bodyTime: l.BodyTime,
		longest: l.Wait + beyondWait, slow: l.Slow, errors: connect.NewErrorWriter(), logger: o.Logger,
	}
}

// visitor is who makes a request, as the gate sees it.
type visitor struct {
	auth.Pass

	client string // who shares limits: a token's name, or a network
}

// ServeHTTP implements [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer g.cutOff(r)
	arriving := g.boundArrival(w, r) // of a refused request, too: its body is skipped before the answer
	if asksLife(r) {                 // a monitor that hears "no room" restarts the server, with all that is under way
		g.boundAnswer(w)
		g.live(w, r)
		return
	}
	next, p := g.destination(r)
	who := g.visitorOf(r)
	ctx, err := g.admit(r, &who, p.least)
	if err != nil {
		g.writeRefusal(w, r, p, err)
		return
	}
	inside, err := g.takePlace(who.client, p.stream)
	if err != nil {
		g.writeRefusal(w, r, p, err)
		return
	}
	defer inside.giveBack()
	ctx, cancel := g.callContext(ctx, w, who.Name, p)
	defer cancel()
	r = r.WithContext(ctx)
	g.boundBody(w, r, arriving, p)
	if !p.stream {
		g.boundAnswer(w)
	}
	next.ServeHTTP(w, r)
}

// destination finds out where a request goes, and what it needs.
func (g *gate) destination(r *http.Request) (http.Handler, procedure) {
	if p, ok := g.procedures[r.URL.Path]; ok {
		if !speaksAPI(r) {
			return http.HandlerFunc(g.strangeRequest), p
		}
		return g.api, p
	}
	if strings.HasPrefix(r.URL.Path, apiPrefix) {
		return http.HandlerFunc(g.unknownProcedure), procedure{least: auth.Admin}
	}
	return g.mounts.routes, procedure{least: g.mounts.roleFor(r), mounted: true}
}

// boundAnswer bounds how long a client may take to read the answer: one that does not read
// would keep a place, and the answer in memory, for ever.
func (g *gate) boundAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.longest + g.slow)) // streams bound each message
}

// takePlace takes a place for a call, which has to be given back. Streams have places of
// their own: clients that only listen must not keep out others, whose leases would end.
func (g *gate) takePlace(client string, stream bool) (place, error) {
	p := place{&g.requests, &g.callers, client}
	what, whole, own := "calls", "limit requests", "half of limit requests"
	if stream {
		p = place{&g.streams, &g.watchers, client}
		what, whole, own = "streams", "limit streams", "limit streams-per-client"
	}
	if !p.own.tryTake(client) { // first: who has all it may have fills no room, not even for a moment
		return p, tooMuch("%s has %d %s under way, which is all one client may (%s)", client, p.own.size, what, own)
	}
	if !p.whole.tryTake() {
		p.own.giveBack(client)
		return p, tooMuch("%d %s are under way, which is all this server takes (%s)", p.whole.size, what, whole)
	}
	return p, nil
}

// callContext makes the context of a call: it says who makes it, and ends in time.
func (g *gate) callContext(
	ctx context.Context, w http.ResponseWriter, who string, p procedure,
) (context.Context, context.CancelFunc) {
	if who != "" {
		ctx = txn.ContextWithActor(ctx, who)
	}
	if p.stream {
		ctx = withWriter(ctx, w)
	}
	if !p.mounted && !p.stream { // a store that does not answer would keep the call for ever
		return context.WithTimeout(ctx, g.longest)
	}
	return auth.UntilRevoked(ctx)
}

// visitorOf finds out who makes a request.
func (g *gate) visitorOf(r *http.Request) visitor {
	who := visitor{Pass: g.tokens.OfRequest(r)}
	if who.Name != "" {
		who.client = "token " + who.Name
	} else {
		who.client = network(r.RemoteAddr)
	}
	return who
}

// admit decides whether a request may come in. The context says who makes it.
func (g *gate) admit(r *http.Request, who *visitor, least auth.Role) (context.Context, error) {
	if !g.limiter.allow(who.client, time.Now()) {
		return nil, tooMuch(
			"too many requests from %s: %.0f at once (limit burst), %.0f a second for long (limit rate)",
			who.client, g.limiter.burst, g.limiter.rate)
	}
	ctx, err := who.Admit(r.Context(), least)
	switch {
	case err == nil:
		return ctx, nil
	case errors.Is(err, auth.ErrUnauthenticated):
		return nil, connect.NewError(connect.CodeUnauthenticated, err)
	default:
		return nil, connect.NewError(connect.CodePermissionDenied, err)
	}
}

func tooMuch(format string, args ...any) error {
	return apiwire.Busy(fmt.Errorf(format, args...))
}

// writeRefusal answers in the words of the caller's protocol.
func (g *gate) writeRefusal(w http.ResponseWriter, r *http.Request, p procedure, err error) {
	g.boundAnswer(w)
	code := connect.CodeOf(err)
	if code == connect.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", challenge(p))
	}
	if !p.mounted && g.errors.IsSupported(r) {
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
func challenge(p procedure) string {
	if p.mounted {
		return `Basic realm="Bedrock: the token is the password"`
	}
	return "Bearer"
}
