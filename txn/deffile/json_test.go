package deffile_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/txn/deffile"
)

// FuzzJSON: what is in a file is what another reader finds there, wherever it stands.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, {"b": "}\\\""}], "c": null}`, `"\u00e9\n\ud834\udd1e"`,
		`[[],{}," [ "]`, ` 12.50e-7 `, `true`, `"payload"`,
		`{"payload": {"payload": 1}, "x":"\\"}`, strings.Repeat("[", 100) + strings.Repeat("]", 100),
	} {
		f.Add([]byte(seed), " ")
	}
	f.Fuzz(func(t *testing.T, value []byte, text string) {
		var compact bytes.Buffer
		if json.Compact(&compact, value) != nil || len(value) > 1<<16 || len(text) > 1000 {
			return
		}
		name, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal(name, &text) // what is not UTF-8 is replaced
		file := `{"payload" :` + string(value) + `,"headers":{` + string(name) + `:` + string(name) + `}
			, "steps" : [ {"id":"a","action":"f","payload":` + string(value) + `} ] ,"mode":"saga"}`
		read, err := deffile.Read("x.json", []byte(file))
		if err != nil {
			if utf8.ValidString(file) {
				t.Errorf("%s: %v", file, err)
			}
			return
		}
		d := read.Definition
		if string(d.Payload) != compact.String() || string(d.Branches[0].Payload) != compact.String() {
			t.Errorf("payloads %s and %s, want %s", d.Payload, d.Branches[0].Payload, &compact)
		}
		if d.Headers[text] != text {
			t.Errorf("headers %q, want %q", d.Headers, text)
		}
	})
}
