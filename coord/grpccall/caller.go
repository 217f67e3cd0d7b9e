package grpccall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/internal/reach"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/wire"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Caller calls participants over gRPC. It is a coord.Caller.
type Caller struct {
	rules      *allow.Rules
	transports map[string]*http.Transport // by scheme
	maxResult  int
	targets    reach.Cache[*client]
}

type client = connect.Client[message, message]

// New makes a Caller. Close it when no coordinator uses it any more.
func New(opts *Options) (*Caller, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Caller{
		rules:      o.Allow,
		transports: map[string]*http.Transport{"grpc": o.transport("grpc"), "grpcs": o.transport("grpcs")},
		maxResult:  o.MaxResult,
	}, nil
}

// Close closes the idle connections.
func (c *Caller) Close() {
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
}

// Check refuses a target that may not be called.
func (c *Caller) Check(target txn.Target) error {
	scheme, rest, _ := strings.Cut(string(target), "://")
	if c.transports[scheme] == nil {
		return fmt.Errorf("scheme %q: want grpc or grpcs", wire.Excerpt(scheme))
	}
	if strings.ContainsAny(rest, "?#") || strings.Count(rest, "/") != 2 || strings.HasSuffix(rest, "/") {
		return errors.New("the target is not grpc://host:port/pkg.Service/Method")
	}
	return c.rules.Check(string(target))
}

// Call asks the participant.
func (c *Caller) Call(ctx context.Context, target txn.Target, call txn.Call) plan.Answer {
	client, err := c.targets.Get(target, c.client)
	if err != nil {
		return reach.Unreached(err)
	}
	payload := message(call.Payload)
	request := connect.NewRequest(&payload)
	fill(request.Header(), &call)
	followed, attempt := reach.Follow(ctx)
	reply, err := client.CallUnary(followed, request)
	if err != nil {
		return answer(ctx, attempt, err)
	}
	return plan.Answer{Kind: plan.Done, Result: *reply.Msg}
}

// client makes what all calls of a target go through.
func (c *Caller) client(target txn.Target) (*client, error) {
	if err := c.Check(target); err != nil {
		return nil, err
	}
	scheme, rest, _ := strings.Cut(string(target), "://")
	url := "http://" + rest
	if scheme == "grpcs" {
		url = "https://" + rest
	}
	const framing = 5 // bytes before a message
	most := int64(c.maxResult) + framing
	return connect.NewClient[message, message](capped{c.transports[scheme], most}, url,
		connect.WithGRPC(),
		connect.WithCodec(codec{}),
		connect.WithAcceptCompression("gzip", nil, nil), // a small reply must not become a large one
	), nil
}

// fill sets the metadata of a call.
func fill(header http.Header, call *txn.Call) {
	for name, values := range wire.Header(call) {
		if strings.HasSuffix(name, "-Bin") {
			values = []string{connect.EncodeBinaryHeader([]byte(values[0]))} // gRPC decodes these
		}
		header[http.CanonicalHeaderKey(name)] = values
	}
	header["User-Agent"] = []string{"bedrock"}
}

// answer reads an error. Codes count only if the participant has sent them.
func answer(ctx context.Context, attempt *reach.Attempt, err error) plan.Answer {
	e, ok := errors.AsType[*connect.Error](err)
	if !ok || !connect.IsWireError(err) {
		a := attempt.Failed(ctx, err)
		// A server that knows of the deadline may end the call before our own clock has told.
		a.Down = a.Down || errors.Is(err, errNobodyThere) || connect.CodeOf(err) == connect.CodeDeadlineExceeded
		return a
	}
	note := wire.Excerpt(e.Message())
	switch e.Code() {
	case connect.CodeAborted:
		return plan.Answer{Kind: plan.Refused, Note: note}
	case connect.CodeFailedPrecondition:
		after := wire.ParseRetryAfter(e.Meta().Get(wire.RetryAfter), "", time.Time{})
		return plan.Answer{Kind: plan.Pending, Note: note, After: after}
	default:
		return plan.Answer{
			Kind: plan.Failed,
			Note: wire.Excerpt(e.Code().String() + ": " + note),
			Down: e.Code() == connect.CodeUnavailable || e.Code() == connect.CodeDeadlineExceeded, Lasting: lasting(e.Code()),
		}
	}
}

// lasting tells whether a code says that the same call will never be taken.
func lasting(code connect.Code) bool {
	switch code {
	case connect.CodeInvalidArgument, connect.CodeOutOfRange, connect.CodeNotFound,
		connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeUnimplemented:
		return true
	default:
		return false
	}
}
