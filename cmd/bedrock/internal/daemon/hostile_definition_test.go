package daemon_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// unacceptable is a definition that is refused, with the field that is to blame and
// the rule it breaks.
type unacceptable struct{ body, field, rule string }

// unread is told of one of them in place of its rule where the definition is not even read.
const unread = "too large: at most about 300000 values"

func wrongOrders() map[string]unacceptable {
	return map[string]unacceptable{
		"a circle of two": {
			submission(`"steps": [{"id": "a", "action": "demo.echo", "after": ["b"]}, {"id": "b", "action": ` +
				`"demo.echo", "after": ["a"]}]`),
			"steps[0].after", `"a" waits for itself in a circle`,
		},
		"a circle of one": {submission(step(`"action": "demo.echo", "after": ["a"]`)), "steps[0].after", "in a circle"},
		"a circle among others": {
			submission(`"steps": [{"id": "s", "action": "demo.echo"},
			{"id": "a", "action": "demo.echo", "after": ["s", "c"]},
				{"id": "b", "action": "demo.echo", "after": ["a"]},
			{"id": "c", "action": "demo.echo", "after": ["b"]}]`),
			"steps[1].after", "in a circle",
		},
		"after nobody": {
			submission(step(`"action": "demo.echo", "after": ["ghost"]`)), "steps[0].after", `"ghost"`,
		},
		"after somebody twice": {
			submission(`"steps": [{"id": "a", "action": "demo.echo"}, {"id": "b", "action": "demo.echo", "after": ` +
				`["a", "a"]}]`), "steps[1].after", "twice",
		},
		"use of nobody": {
			submission(step(`"action": "demo.echo", "use": {"x": "ghost.id"}`)), `steps[0].use["x"]`,
			`there is no "ghost"`,
		},
		"use of a later step": {
			submission(`"steps": [{"id": "a", "action": "demo.echo", "use": {"x": "b"}}, {"id": "b", "action": ` +
				`"demo.echo", "after": ["a"]}]`),
			`steps[0].use["x"]`, "does not always come before",
		},
		"use in a list": {
			submission(`"payload": [1], "steps": [{"id": "a", "action": "demo.echo", "use": {"x": "a"}}]`),
			"steps[0].payload", "must be a JSON object",
		},
		"no steps": {submission(`"steps": []`), "steps", "at least one step"},
		"the same twice": {
			submission(`"steps": [{"id": "a", "action": "demo.echo"}, {"id": "a", "action": "demo.slow"}]`),
			"steps[1].id", `"a" is there twice`,
		},
		"no step ID": {submission(`"steps": [{"action": "demo.echo"}]`), "steps[0].id", "1 to 64"},
		"odd step ID": {
			submission(`"steps": [{"id": "a b", "action": "demo.echo"}]`), "steps[0].id", "letters, digits",
		},
		"long step ID": {
			submission(`"steps": [{"id": "` + strings.Repeat("a", 65) + `", "action": "demo.echo"}]`), "steps[0].id",
			"1 to 64",
		},
		"nested badly": {
			submission(`"steps": [{"id": "in/a", "action": "demo.echo", "after": ["in"]}]`), "steps[0].after", `"in"`,
		},
	}
}

func wrongSizes() map[string]unacceptable {
	const limit = 1 << 20
	half := `"` + strings.Repeat("x", limit/2) + `"`
	return map[string]unacceptable{
		"1,001 steps": {
			submission(steps(1001, `{"id": "s%d", "action": "demo.echo"}`)), "steps", "1001 of them: at most 1000",
		},
		"100,000 steps": {submission(steps(100_000, `{"id":"s%d"}`)), "steps", "100000 of them: at most 1000"},
		"payload too large": {
			submission(`"payload": "` + strings.Repeat("x", limit-1) + `", ` + step(`"action": "demo.echo"`)),
			"payload",
			"1048577 bytes in all: at most 1048576",
		},
		"payloads too large": {
			submission(steps(2, `{"id": "s%d", "action": "demo.echo", "payload": `+half+`}`)), "payload",
			"1048580 bytes in all: at most 1048576",
		},
		"too many links": {
			submission(everyoneAfter(150)), "steps", "entries of after and use in all: at most 10000",
		},
		"too many words": {
			submission(steps(600, `{"id": "s%d", "action": "http://127.0.0.1/`+strings.Repeat("x", 1900)+`"}`)),
			"steps",
			"bytes of names and targets in all: at most 1024000",
		},
		"headers too large": {
			submission(`"headers": {"x-a": "` + strings.Repeat("x", 9000) + `"}, ` + step(`"action": "demo.echo"`)),
			"headers", "9003 bytes in all: at most 8192",
		},
		"long name": {
			submission(`"name": "` + strings.Repeat("n", 129) + `", ` + step(`"action": "demo.echo"`)), "name",
			"at most 128",
		},
		"long target": {
			submission(step(`"action": "http://127.0.0.1/` + strings.Repeat("x", 2048) + `"`)), "steps[0].action",
			"at most 2048",
		},
		"long ID": {
			`{"definition": {"id": "` + strings.Repeat("i", 129) + `", "mode": "saga", ` +
				step(`"action": "demo.echo"`) +
				`}}`, "id", "1 to 128",
		},
		"too parallel": {
			submission(`"parallel": 1001, ` + step(`"action": "demo.echo"`)), "parallel",
			"1001: want 0 (default) to 1000",
		},
		"too patient": {
			submission(`"timeout": "99999999s", ` + step(`"action": "demo.echo"`)), "timeout", "to 8784h",
		},
	}
}

// everyoneAfter is n steps, each after all those before it.
func everyoneAfter(n int) string {
	var before []string
	branches := make([]string, n)
	for i := range n {
		branches[i] = fmt.Sprintf(`{"id": "s%d", "action": "demo.echo", "after": [%s]}`, i, strings.Join(before, ","))
		before = append(before, fmt.Sprintf(`"s%d"`, i))
	}
	return `"steps": [` + strings.Join(branches, ",") + `]`
}

func wrongFields() map[string]unacceptable {
	fine := step(`"action": "demo.echo", "compensate": "demo.echo"`)
	policy := func(text string) string { return submission(step(`"action": "demo.echo", "policy": {` + text + `}`)) }
	return map[string]unacceptable{
		"no mode":      {`{"definition": {"id": "hostile", ` + fine + `}}`, "mode", "is missing"},
		"unknown mode": {`{"definition": {"id": "hostile", "mode": "magic", ` + fine + `}}`, "mode", "magic"},
		"path as an ID": {
			`{"definition": {"id": "../hostile", "mode": "saga", ` + fine + `}}`, "id", "../hostile",
		},
		"negative timeout":     {submission(`"timeout": "-1s", ` + fine), "timeout", "-1s: want 0"},
		"unknown recovery":     {submission(`"recovery": "sideways", ` + fine), "recovery", "want backward or forward"},
		"negative parallelism": {submission(`"parallel": -1, ` + fine), "parallel", "-1: want"},
		"delayed saga":         {submission(`"delay": "1s", ` + fine), "delay", "mode saga"},
		"checked saga":         {submission(`"check": {"target": "demo.echo"}, ` + fine), "check", "mode saga"},
		"name of two lines":    {submission(`"name": "a\nb", ` + fine), "name", "printable"},
		"smuggled header": {
			submission(`"headers": {"x": "a\r\nBedrock-Epoch: 9"}, ` + fine), `headers["x"]`, "control characters",
		},
		"coordinator's header": {
			submission(`"headers": {"Bedrock-Epoch": "9"}, ` + fine), `headers["Bedrock-Epoch"]`,
			"may not be passed on",
		},
		"credentials": {
			submission(`"headers": {"authorization": "Bearer x"}, ` + fine), `headers["authorization"]`,
			"may not be passed on",
		},
		"fewer than no tries": {policy(`"attempts": -1`), "steps[0].policy.attempts", "-1: want 0"},
		"slow policy":         {policy(`"timeout": "3000000s"`), "steps[0].policy.timeout", "to 720h"},
		"hasty policy": {
			policy(`"backoff": "0.000001s"`), "steps[0].policy.backoff", "want 0 (default) or 1ms",
		},
		"then of no end": {policy(`"then": "park"`), "steps[0].policy.then", "never comes"},
		"unknown then": {
			policy(`"attempts": 1, "then": "shrug"`), "steps[0].policy.then", "want compensate, park or hook",
		},
		"hook of nobody": {policy(`"attempts": 1, "then": "hook"`), "steps[0].policy.hook", "is missing"},
		"message to nobody": {
			`{"definition": {"id": "hostile", "mode": "msg", "deliver": [{"id": "a", "to": "topic:nobody"}]}}`,
			"deliver[0].to", "nobody",
		},
	}
}

func wrongTargets() map[string]unacceptable {
	do := func(target string) string { return submission(step(`"action": "` + target + `"`)) }
	const field = "steps[0].action"
	return map[string]unacceptable{
		"cloud metadata":         {do("http://169.254.169.254/latest/meta-data/"), field, "169.254.169.254"},
		"metadata in IPv6":       {do("http://[::ffff:169.254.169.254]/"), field, "169.254.169.254"},
		"private network":        {do("http://10.0.0.1/"), field, "10.0.0.1"},
		"stranger":               {do("https://pay.example/charge"), field, "pay.example"},
		"stranger over gRPC":     {do("grpc://pay.example:443/pay.Service/Charge"), field, "pay.example"},
		"stranger's localhost":   {do("http://localhost.pay.example/"), field, "localhost.pay.example"},
		"user is not the host":   {do("http://127.0.0.1@pay.example/"), field, "user or password"},
		"file":                   {do("file:///etc/passwd"), field, "names no host"},
		"gopher":                 {do("gopher://127.0.0.1:6379/_FLUSHALL"), field, "does not call gopher targets"},
		"no host":                {do("http:///path"), field, "no host"},
		"no scheme":              {do("//127.0.0.1/path"), field, "want a function's name"},
		"gRPC without a method":  {do("grpc://127.0.0.1:1/"), field, "pkg.Service/Method"},
		"line break in a target": {do(`http://127.0.0.1/\r\nHost: x`), field, "printable"},
		"topic in a saga":        {do("topic:orders"), "steps[0]", "a topic has many receivers"},
		"async of async":         {do("async:async:demo.echo"), field, "one async: is enough"},
		"forbidden, assured":     {do("async:http://10.0.0.1/"), field, "10.0.0.1"},
		"forbidden on the way back": {
			submission(step(`"action": "demo.echo", "compensate": "http://10.0.0.1/"`)), "steps[0].compensate",
			"10.0.0.1",
		},
		"forbidden hook": {
			submission(step(`"action": "demo.echo",
			"policy": {"attempts": 1, "then": "hook", "hook": "http://10.0.0.1/"}`)),
			"steps[0].policy.hook", "10.0.0.1",
		},
		"forbidden check": {
			`{"definition": {"id": "hostile", "mode": "msg", "check": {"target": "http://10.0.0.1/"}, "deliver": ` +
				`[{"id": "a", "to": "demo.echo"}]}}`,
			"check.target", "10.0.0.1",
		},
	}
}

// TestUnacceptableDefinitions: whoever asks, and however, learns the field and the
// rule, and nothing is created.
func TestUnacceptableDefinitions(t *testing.T) {
	s := open(t, nil)
	// 100,000 steps under the race detector take a busy machine longer than a client has patience for.
	c, err := client.Dial(s.address, &client.Options{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, table := range []map[string]unacceptable{wrongOrders(), wrongSizes(), wrongFields(), wrongTargets()} {
		for name, tc := range table {
			t.Run(name, func(t *testing.T) {
				for _, wait := range []string{`, "wait": true}`, `}`} {
					if len(tc.body) > 1<<20 && wait == "}" {
						continue // once is slow enough with the race detector
					}
					a := s.post(t.Context(), t, "Submit", strings.TrimSuffix(tc.body, "}")+wait)
					rule := tc.rule
					if name == "100,000 steps" {
						rule = unread
					}
					a.refused(t, http.StatusBadRequest, rule)
					if a.Code != "invalid_argument" || len(a.Details) != 1 || a.Details[0].Debug.Field != tc.field {
						t.Errorf("%.300s: want the field %s", a.body, tc.field)
					}
				}
				d, err := parsed(t, tc.body)
				if err == nil {
					_, err = c.Submit(t.Context(), d)
				}
				e, ok := errors.AsType[*txn.InvalidError](err)
				if !ok || modes.InWords(d.Mode, e.Field) != tc.field || !strings.Contains(e.Problem, tc.rule) {
					t.Errorf("client: %.300v, want %s: %s", err, tc.field, tc.rule)
				}
				s.nothing(t)
			})
		}
	}
}

// TestTheLimitsThemselvesAreAccepted: what the refusals are worth depends on it.
func TestTheLimitsThemselvesAreAccepted(t *testing.T) {
	s := open(t, nil)
	for name, fields := range map[string]string{
		"1,000 steps": steps(1000, `{"id": "s%d", "action": "demo.echo"}`),
		"largest":     `"payload": "` + strings.Repeat("x", 1<<20-2) + `", ` + step(`"action": "demo.echo"`),
		"links":       everyoneAfter(141),
		"longest names": `"name": "` + strings.Repeat("n", 128) + `", ` + `"steps": [{"id": "` +
			strings.Repeat("a", 64) + `", "action": "demo.echo"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"definition": {"mode": "saga", ` + fields + `}, "wait": true}`
			if a := s.post(t.Context(), t, "Submit", body); a.status != http.StatusOK ||
				a.Result.Outcome != "committed" {
				t.Errorf("%d %.300s", a.status, a.body)
			}
		})
	}
}
