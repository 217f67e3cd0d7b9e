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
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// Caller calls participants over gRPC. It is a [txn.Caller].
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

// Close closes the idle connections. It may be called twice.
func (c *Caller) Close() error {
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
	return nil
}

// Schemes are grpc and grpcs.
func (*Caller) Schemes() []string { return []string{"grpc", "grpcs"} }

// Check refuses a target that may not be called.
func (c *Caller) Check(target txn.Target) error {
	scheme, rest, _ := strings.Cut(string(target), "://")
	if c.transports[scheme] == nil {
		return fmt.Errorf("scheme %q: want grpc or grpcs", header.Excerpt(scheme))
	}
	if strings.ContainsAny(rest, "?#") || strings.Count(rest, "/") != 2 || strings.HasSuffix(rest, "/") {
		return errors.New("the target is not grpc://host:port/pkg.Service/Method")
	}
	return c.rules.Check(string(target))
}

// Call asks the participant.
func (c *Caller) Call(ctx context.Context, target txn.Target, call txn.Call) txn.Answer {
	client, err := c.targets.Get(target, c.client)
	if err != nil {
		return reach.Unreached(err)
	}
	payload := message(call.Payload)
	request := connect.NewRequest(&payload)
	setMetadata(request.Header(), &call)
	followed, attempt := reach.Follow(ctx)
	reply, err := client.CallUnary(followed, request)
	if err != nil {
		return answerOf(ctx, attempt, err)
	}
	return txn.Answer{Kind: txn.AnswerDone, Result: *reply.Msg}
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

// setMetadata sets the metadata of a call.
func setMetadata(h http.Header, call *txn.Call) {
	for name, values := range header.Of(call) {
		if strings.HasSuffix(name, "-Bin") {
			values = []string{connect.EncodeBinaryHeader([]byte(values[0]))} // gRPC decodes these
		}
		h[http.CanonicalHeaderKey(name)] = values
	}
	h["User-Agent"] = []string{"bedrock"}
}

// answerOf reads an error. Codes count only if the participant has sent them.
func answerOf(ctx context.Context, attempt *reach.Attempt, err error) txn.Answer {
	e, ok := errors.AsType[*connect.Error](err)
	if !ok || !connect.IsWireError(err) {
		a := attempt.Failed(ctx, err)
		// A server that knows of the deadline may end the call before our own clock has told.
		a.Down = a.Down || errors.Is(err, errNobodyThere) || connect.CodeOf(err) == connect.CodeDeadlineExceeded
		return a
	}
	note := header.Excerpt(e.Message())
	switch e.Code() {
	case connect.CodeAborted:
		return txn.Answer{Kind: txn.AnswerRefused, Note: note}
	case connect.CodeFailedPrecondition:
		after := header.ParseRetryAfter(e.Meta().Get(header.RetryAfter), "", time.Time{})
		return txn.Answer{Kind: txn.AnswerPending, Note: note, After: after}
	default:
		return txn.Answer{
			Kind:    txn.AnswerFailed,
			Note:    header.Excerpt(e.Code().String() + ": " + note),
			Down:    e.Code() == connect.CodeUnavailable || e.Code() == connect.CodeDeadlineExceeded,
			Lasting: lasting(e.Code()),
		}
	}
}

// lasting reports whether a code says that the same call will never be taken.
func lasting(code connect.Code) bool {
	switch code {
	case connect.CodeInvalidArgument, connect.CodeOutOfRange, connect.CodeNotFound,
		connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeUnimplemented:
		return true
	default:
		return false
	}
}
