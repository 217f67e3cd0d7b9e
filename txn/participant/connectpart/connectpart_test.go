package connectpart_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bedrock-go/bedrock/coord/grpccall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/connectpart"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	request  = connect.Request[wrapperspb.StringValue]
	response = connect.Response[wrapperspb.StringValue]
)

const procedure = "/test.Stock/Deduct"

// serve starts a connect server, without TLS.
func serve(t *testing.T, f func(context.Context, *request) (*response, error)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(connect.NewUnaryHandler(procedure, f,
		connect.WithInterceptors(connectpart.Interceptor())))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func encode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := proto.Marshal(wrapperspb.String(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCallsOfACoordinator(t *testing.T) {
	var seen txn.Call
	var reply error
	s := serve(t, func(ctx context.Context, r *request) (*response, error) {
		seen, _ = txn.CallFrom(ctx)
		return connect.NewResponse(wrapperspb.String(r.Msg.Value + "!")), reply
	})
	calls, err := grpccall.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	call := txn.Call{
		Transaction: "t", Branch: "b", Op: "try", Mode: "tcc", Attempt: 3, Epoch: 4, Result: []byte("r"),
		Headers: map[string]string{"traceparent": "p"},
	}
	for _, c := range []struct {
		reply error
		want  txn.Answer
	}{
		{nil, txn.Answer{Kind: txn.AnswerDone, Result: encode(t, "tea!")}},
		{txn.Abort(errors.New("out of stock")), txn.Answer{Kind: txn.AnswerRefused, Note: "out of stock"}},
		{
			txn.Pending(20 * time.Millisecond), txn.Answer{
				Kind: txn.AnswerPending, Note: "still working; ask again in 20ms", After: 20 * time.Millisecond,
			},
		},
		{
			txn.ErrMalformed, txn.Answer{
				Kind: txn.AnswerFailed, Note: "invalid_argument: the call cannot be read", Lasting: true,
			},
		},
		{errors.New("busy"), txn.Answer{Kind: txn.AnswerFailed, Note: "unknown: busy"}},
	} {
		reply = c.reply
		sent := call
		sent.Payload = encode(t, "tea")
		got := calls.Call(t.Context(), txn.Target(strings.Replace(s.URL, "http", "grpc", 1)+procedure), sent)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(call, seen); diff != "" {
			t.Error(diff)
		}
	}
}

func TestOtherCallsGoThrough(t *testing.T) {
	aborted := txn.Abort(errors.New("not a transaction"))
	s := serve(t, func(ctx context.Context, _ *request) (*response, error) {
		if _, ok := txn.CallFrom(ctx); ok {
			t.Error("a call without a transaction")
		}
		return nil, aborted
	})
	client := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](s.Client(), s.URL+procedure,
		connect.WithInterceptors(connectpart.Interceptor())) // which is for servers only
	if _, err := client.CallUnary(t.Context(),
		connect.NewRequest(wrapperspb.String(""))); connect.CodeOf(err) != connect.CodeUnknown {
		t.Error(err)
	}
	garbled := connect.NewRequest(wrapperspb.String(""))
	garbled.Header().Set("Bedrock-Transaction", "t")
	if _, err := client.CallUnary(t.Context(), garbled); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Error(err)
	}
}
