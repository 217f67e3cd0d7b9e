package server

import (
	"context"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// mistakesField is the number of a field that no message has. In it the codec leaves what is
// wrong with a request in JSON, and the handler answers: of an error of the codec itself the
// library would make an answer that begins with words of its own, and has no details.
const mistakesField protowire.Number = protowire.MaxValidNumber

// bodyField is to blame for what is wrong with a request as a whole.
const bodyField = "body"

// longestProblem is how much is said about a request that cannot be read, in bytes:
// a name in it may be as long as the request, and all that is said is there three times.
const longestProblem = 400

func shorten(text string) string {
	if len(text) > longestProblem {
		text = text[:longestProblem] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// leaveMistakes leaves in a message why it could not be read, and nothing else.
func leaveMistakes(m proto.Message, err error) error {
	var raw []byte
	for _, wrong := range input.All(err) {
		text, err := proto.Marshal(&bedrockv1.Problem{
			Field: shorten(wrong.Field), Reason: shorten(wrong.Problem),
		})
		if err != nil {
			return err
		}
		if len(raw) > 0 && len(raw)+len(text) > longestProblem {
			break
		}
		raw = protowire.AppendTag(raw, mistakesField, protowire.BytesType)
		raw = protowire.AppendBytes(raw, text)
	}
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(raw)
	return nil
}

// mistakesIn is why a request could not be read; nil of one that was. Who speaks protobuf may
// have fields that are not known here, and they mean nothing.
func mistakesIn(header http.Header, message any) error {
	m, ok := message.(proto.Message)
	if !ok || len(m.ProtoReflect().GetUnknown()) == 0 || !strings.Contains(header.Get("Content-Type"), "json") {
		return nil
	}
	var all []*input.Error
	for raw := m.ProtoReflect().GetUnknown(); len(raw) > 0; {
		_, _, tag := protowire.ConsumeTag(raw)
		text, n := protowire.ConsumeBytes(raw[max(tag, 0):])
		var p bedrockv1.Problem
		if tag < 0 || n < 0 || proto.Unmarshal(text, &p) != nil {
			return errInternal
		}
		all = append(all, &input.Error{Field: p.GetField(), Problem: p.GetReason()})
		raw = raw[tag+n:]
	}
	return apiwire.Invalid(input.Join(all))
}

// answersMistakes is what refuses requests that could not be read.
type answersMistakes struct{}

// WrapUnary implements [connect.Interceptor].
func (answersMistakes) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if err := mistakesIn(req.Header(), req.Any()); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

// WrapStreamingClient implements [connect.Interceptor].
func (answersMistakes) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements [connect.Interceptor].
func (answersMistakes) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return next(ctx, &checkedConn{conn})
	}
}

// checkedConn refuses messages that could not be read.
type checkedConn struct{ connect.StreamingHandlerConn }

// Receive implements [connect.StreamingHandlerConn].
func (c *checkedConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	return mistakesIn(c.RequestHeader(), message)
}
