package deffile_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/txn/deffile"
)

// listed writes n values, each with its number.
func listed(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return strings.Join(all, ",")
}

// TestAFileTakesManyTimesItsSize: what is said of one step goes to all those in it, and
// a file with many slips has a hint for each.
func TestAFileTakesManyTimesItsSize(t *testing.T) {
	const outer = `{"mode":"saga","steps":[{"id":"x",%s,"steps":[` // with 2000 in it
	inner := listed(2000, `{"id":"a%d","action":"f","after":[]}`) + `]}]}`
	long := strings.Repeat("x", 100_000)
	tests := map[string]struct{ text, want string }{
		"id": {
			strings.Replace(fmt.Sprintf(outer, `"policy":{}`)+inner, `"x"`, `"`+long+`"`, 1),
			"want 1 to 64 letters, digits and _ - /, with those of the steps in it",
		},
		"payload": {fmt.Sprintf(outer, `"payload":"`+long+`"`) + inner, "too large: steps get more than"},
		"use":     {fmt.Sprintf(outer, `"use":{`+listed(2000, `"f%d":"a"`)+`}`) + inner, "too large: steps get"},
		"after":   {fmt.Sprintf(outer, `"after":[`+listed(2000, `"a%d"`)+`]`) + inner, "too large: steps get"},
		"unknown fields": {
			`{"mode":"saga",` + listed(10_000, `"some field that is not known, %d":1`) + `}`, "unknown field",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := deffile.Read("f", []byte(test.text))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if times := (after.TotalAlloc - before.TotalAlloc) / uint64(len(test.text)); times > 100 {
				t.Errorf("%d times its size", times)
			}
		})
	}
}
