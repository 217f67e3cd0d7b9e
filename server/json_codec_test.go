package server

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// answers are those whose bytes are shown as values.
func answers() map[string]proto.Message {
	result := &bedrockv1.Result{
		Id: "o-1", Outcome: "committed",
		ReturnedBytes: map[string][]byte{"a": []byte(`{"n": 3}`), "b": {0, 1, 255}, "c": []byte(`9007199254740993`)},
	}
	t := &bedrockv1.Transaction{
		Definition: &bedrockv1.Definition{
			Id: "o-1", Body: &bedrockv1.Definition_PayloadBytes{PayloadBytes: []byte(`{"order": 42}`)},
		},
		Checked: done("check", `"yes"`),
	}
	for i := range 10 {
		t.Definition.Branches = append(t.Definition.Branches, &bedrockv1.Branch{
			Id: fmt.Sprint("b", i), Body: &bedrockv1.Branch_PayloadBytes{PayloadBytes: []byte(`[1, 2, 3]`)},
		})
		t.Progress = append(t.Progress, &bedrockv1.Progress{
			Operations: []*bedrockv1.Operation{
				done("try", `{"id": "x"}`), done("confirm", `1`), done("cancel", "\xff"), done("hook", ``),
			},
		})
		t.Attempts = append(t.Attempts, &bedrockv1.Attempt{
			Branch: fmt.Sprint("b", i), Excerpt: strings.Repeat("x", 100),
		})
	}
	return map[string]proto.Message{
		"submit": &bedrockv1.SubmitResponse{Id: "o-1", Result: result}, "wait": &bedrockv1.WaitResponse{Result: result},
		"get": &bedrockv1.GetResponse{Transaction: t}, "watch": &bedrockv1.WatchResponse{Transaction: t},
		"pending": &bedrockv1.SubmitResponse{Id: "o-1"}, "nothing": &bedrockv1.GetResponse{},
		"no bytes": &bedrockv1.WaitResponse{Result: &bedrockv1.Result{Id: "o-1"}},
	}
}

func done(op, result string) *bedrockv1.Operation {
	return &bedrockv1.Operation{
		Op: op, State: "done", Body: &bedrockv1.Operation_ResultBytes{ResultBytes: []byte(result)},
	}
}

// TestMarshalLeavesItsMessageAlone: others have it, too: interceptors, and who writes it a
// second time, in another form.
func TestMarshalLeavesItsMessageAlone(t *testing.T) {
	for name, m := range answers() {
		before := content(t, m)
		text, err := newJSON("json").Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, content(t, m)) {
			t.Errorf("%s: the message is another one after Marshal", name)
		}
		again, err := newJSON("json").MarshalStable(m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, again) {
			t.Errorf("%s: %s, and then %s", name, text, again)
		}
	}
}

func content(t *testing.T, m proto.Message) []byte {
	t.Helper()
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// BenchmarkMarshalJSON marshals every message once, as a server does.
func BenchmarkMarshalJSON(b *testing.B) {
	c := newJSON("json")
	for name, m := range answers() {
		b.Run(name, func(b *testing.B) {
			fresh := make([]proto.Message, b.N)
			for i := range fresh {
				fresh[i] = proto.CloneOf(m)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if _, err := c.Marshal(fresh[i]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
