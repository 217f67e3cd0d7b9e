package server

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/bedrock-go/bedrock/internal/wire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// readable turns bytes that are JSON into values, so that they can be read in an
// answer in JSON. What a value would round stays as it is.
func readable(m proto.Message) {
	switch m := m.(type) {
	case *bedrockv1.SubmitResponse:
		readableResult(m.GetResult())
	case *bedrockv1.WaitResponse:
		readableResult(m.GetResult())
	case *bedrockv1.GetResponse:
		readableTransaction(m.GetTransaction())
	case *bedrockv1.WatchResponse:
		readableTransaction(m.GetTransaction())
	}
}

func readableResult(r *bedrockv1.Result) {
	if r == nil {
		return
	}
	left := make(map[string][]byte)
	r.Returned = make(map[string]*structpb.Value, len(r.GetReturnedBytes()))
	for branch, text := range r.GetReturnedBytes() {
		if v, exact := wire.Value(text); exact {
			r.Returned[branch] = v
		} else {
			left[branch] = text
		}
	}
	r.ReturnedBytes = left
}

func readableTransaction(t *bedrockv1.Transaction) {
	if d := t.GetDefinition(); d != nil {
		if v, exact := wire.Value(d.GetPayloadBytes()); exact {
			d.Body = &bedrockv1.Definition_Payload{Payload: v}
		}
		for _, b := range d.GetBranches() {
			if v, exact := wire.Value(b.GetPayloadBytes()); exact {
				b.Body = &bedrockv1.Branch_Payload{Payload: v}
			}
		}
	}
	for _, p := range t.GetProgress() {
		for _, o := range []*bedrockv1.Operation{p.GetDo(), p.GetConfirm(), p.GetUndo(), p.GetHook()} {
			readableOperation(o)
		}
	}
	readableOperation(t.GetChecked())
}

func readableOperation(o *bedrockv1.Operation) {
	if v, exact := wire.Value(o.GetResultBytes()); exact {
		o.Body = &bedrockv1.Operation_Result{Result: v}
	}
}
