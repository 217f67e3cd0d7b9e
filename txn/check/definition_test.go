package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/modes"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// checked runs a definition through all checks a coordinator makes of it.
func checked(d txn.Definition) error {
	if err := check.New(check.Limits{}).Definition(&d); err != nil {
		return err
	}
	return modes.Get(d.Mode).Check(&d)
}

// invalidField tries one change of a definition that is right.
func invalidField(t *testing.T, base func() txn.Definition, tests map[string]struct {
	change func(d *txn.Definition)
	want   string
},
) {
	if d := base(); checked(d) != nil {
		t.Fatalf("the base is wrong: %v", checked(d))
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := base()
			test.change(&d)
			err := checked(d)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if _, ok := errors.AsType[*txn.InvalidError](err); !ok {
				t.Errorf("%T", err)
			}
		})
	}
}

func aSaga() txn.Definition {
	return txn.Definition{
		ID: "order-42", Mode: saga.Name, Name: "order", Payload: []byte(`{"n":1}`), Timeout: time.Minute,
		Parallel: 2, Recovery: txn.Backward, Headers: map[string]string{"tenant": "7"},
		Branches: []txn.Branch{
			{ID: "a", Do: "stock.deduct", Undo: "http://stock/restore", Use: map[string]string{"own": "a.id"}},
			{ID: "b/1", After: []string{"a"}, Do: "grpc://pay:1/pay.Pay/Charge", Use: map[string]string{"id": "a.id"}},
		},
	}
}

func TestWrongSagas(t *testing.T) {
	long := strings.Repeat("x", 200)
	invalidField(t, aSaga, map[string]struct {
		change func(d *txn.Definition)
		want   string
	}{
		"id":                {func(d *txn.Definition) { d.ID = "a b" }, `id: "a b": want 1 to 128`},
		"a folder":          {func(d *txn.Definition) { d.ID = ".." }, `id: "..": want 1 to 128`},
		"this folder":       {func(d *txn.Definition) { d.ID = "." }, `id: ".": want 1 to 128`},
		"long id":           {func(d *txn.Definition) { d.ID = long }, "id: "},
		"name":              {func(d *txn.Definition) { d.Name = long }, "name: "},
		"name with newline": {func(d *txn.Definition) { d.Name = "a\nb" }, "name: "},
		"negative timeout":  {func(d *txn.Definition) { d.Timeout = -1 }, "timeout: -1ns: want 0 (none)"},
		"timeout of 30 ns":  {func(d *txn.Definition) { d.Timeout = 30 }, "timeout: 30ns: want 0 (none) or 1ms to"},
		"long timeout":      {func(d *txn.Definition) { d.Timeout = 1e18 }, "timeout: "},
		"parallel":          {func(d *txn.Definition) { d.Parallel = -1 }, "parallel: -1: want"},
		"recovery":          {func(d *txn.Definition) { d.Recovery = "sideways" }, `recovery: "sideways": want`},
		"empty": {
			func(d *txn.Definition) { d.Branches = nil }, "branches: a saga needs at least one step",
		},
		"too many": {
			func(d *txn.Definition) { d.Branches = make([]txn.Branch, 100_000) },
			"branches: 100000 of them: at most 1000",
		},
		"payload": {
			func(d *txn.Definition) { d.Payload = make([]byte, 1<<20+1) },
			"payload: 1048577 bytes in all: at most 1048576",
		},
		"payloads": {
			func(d *txn.Definition) { d.Branches[0].Payload = make([]byte, 1<<20) }, "payload: 1048583 bytes",
		},
		"branch id": {
			func(d *txn.Definition) { d.Branches[0].ID = "a.b" }, `branches[0].id: "a.b": want 1 to 64`,
		},
		"no branch id": {func(d *txn.Definition) { d.Branches[0].ID = "" }, `branches[0].id: "": want`},
		"same id": {
			func(d *txn.Definition) { d.Branches[1].ID = "a" }, `branches[1].id: "a" is there twice`,
		},
		"unknown after": {
			func(d *txn.Definition) { d.Branches[1].After = []string{"x"} },
			`branches[1].after: "b/1" waits for "x"`,
		},
		"after twice": {
			func(d *txn.Definition) { d.Branches[1].After = []string{"a", "a"} },
			`branches[1].after: "a" is there twice`,
		},
		"after itself": {
			func(d *txn.Definition) { d.Branches[0].After = []string{"a"} },
			`branches[0].after: "a" waits for itself in a circle`,
		},
		"circle": {
			func(d *txn.Definition) { d.Branches[0].After = []string{"b/1"} }, `branches[0].after: "a" waits`,
		},
		"nobody": {
			func(d *txn.Definition) { d.Branches[1].Do = "" }, `branches[1]: "b/1" calls nobody`,
		},
		"undo of a message": {
			func(d *txn.Definition) { d.Branches[0].Do = "async:f" },
			"branches[0].undo: could come before what is sent through async:",
		},
		"confirm": {
			func(d *txn.Definition) { d.Branches[1].Confirm = "f" }, "branches[1].confirm: has no meaning in mode saga",
		},
		"delay":          {func(d *txn.Definition) { d.Delay = time.Second }, "delay: has no meaning in mode saga"},
		"negative delay": {func(d *txn.Definition) { d.Delay = -1 }, "delay: -1ns"},
		"check": {
			func(d *txn.Definition) { d.Check = &txn.Check{Target: "f"} }, "check: has no meaning in mode saga",
		},
		"use of later": {
			func(d *txn.Definition) { d.Branches[0].Use = map[string]string{"x": "b/1"} },
			`branches[0].use["x"]: "b/1" does not always come before`,
		},
		"use of nobody": {
			func(d *txn.Definition) { d.Branches[0].Use = map[string]string{"x": "c.id"} },
			`branches[0].use["x"]: there is no "c"`,
		},
		"use without a name": {
			func(d *txn.Definition) { d.Branches[0].Use = map[string]string{"": "a"} },
			`branches[0].use[""]: a field needs a name`,
		},
		"use in a list": {
			func(d *txn.Definition) { d.Branches[1].Payload = []byte("[]") },
			"branches[1].payload: must be a JSON object",
		},
		"use in null": {
			func(d *txn.Definition) { d.Payload = []byte("null") }, "branches[0].payload: must be a JSON object",
		},
		"forward timeout": {
			func(d *txn.Definition) { d.Recovery = txn.Forward },
			"timeout: a saga with forward recovery is never rolled back",
		},
		"forward compensate": {func(d *txn.Definition) {
			d.Recovery, d.Timeout = txn.Forward, 0
			d.Branches[0].Policy = &txn.Policy{Attempts: 1, Then: txn.Compensate}
		}, "branches[0].policy.then: a saga with forward recovery is never rolled back; want park or hook"},
		"forward mistyped": {func(d *txn.Definition) {
			d.Recovery, d.Timeout = txn.Forward, 0
			d.Branches[0].Policy = &txn.Policy{Attempts: 1, Then: "compensat"}
		}, `branches[0].policy.then: "compensat" is not known; want park or hook`},
		"header name": {func(d *txn.Definition) { d.Headers["a b"] = "" }, `headers["a b"]: not a header name`},
		"header value": {
			func(d *txn.Definition) { d.Headers["a"] = "x\r\ny" }, `headers["a"]: value has control characters`,
		},
		"forbidden header": {
			func(d *txn.Definition) { d.Headers["Authorization"] = "x" },
			`headers["Authorization"]: may not be passed on`,
		},
		"own header": {
			func(d *txn.Definition) { d.Headers["bedrock-epoch"] = "x" },
			`headers["bedrock-epoch"]: may not be passed on`,
		},
		"large headers": {
			func(d *txn.Definition) { d.Headers["a"] = strings.Repeat("x", 9000) },
			"headers: 9008 bytes in all: at most 8192",
		},
		"too many links": {func(d *txn.Definition) {
			d.Branches = nil
			for i := range 1000 {
				b := txn.Branch{ID: fmt.Sprint("b", i), Do: "f"}
				for j := range i {
					b.After = append(b.After, fmt.Sprint("b", j))
				}
				d.Branches = append(d.Branches, b)
			}
		}, "branches: 499500 entries of after and use in all: at most 10000"},
		"too many words": {func(d *txn.Definition) {
			d.Branches = nil
			for i := range 1000 {
				d.Branches = append(d.Branches, txn.Branch{
					ID: fmt.Sprint("b", i), Do: txn.Target("http://h/" + strings.Repeat("x", 2000)),
				})
			}
		}, "branches: 2012890 bytes of names and targets in all"},
	})
}

func TestWrongTargets(t *testing.T) {
	for _, target := range []txn.Target{
		"a b", "http://", "http:///path", "http://user:secret@host/", "http://host/#part", "http://host\x00/", "http:",
		":b", "HTTP://host/",
		"topic:", "topic:a b", "async:", "async:async:f", "async:http:///x", "a b:c", "a/b:c",
		"file:///etc/passwd", "unix:///run/x", "//host/x", "caf\u00e9", "topic:orders", "\xff",
		txn.Target("http://h/" + strings.Repeat("x", 2048)), txn.Target(strings.Repeat("x", 129)),
	} {
		d := aSaga()
		d.Branches[0].Do = target
		err := checked(d)
		if err == nil {
			t.Errorf("%q was accepted", target)
		} else if text := err.Error(); len(text) > 400 || strings.Contains(text, "secret") {
			t.Errorf("%q: %s", target, text)
		}
	}
	for _, target := range []txn.Target{
		"f", "stock.deduct", "a/b_c-d.9", "http://host/x?y=1", "https://[::1]:8080/", "grpcs://h:443/a.B/C",
		"async:topic:orders", "async:https://h/x",
		// Whoever has a caller knows what they mean.
		"kafka:orders", "redis-stream:orders", "async:nats://host:4222/orders",
	} {
		d := aSaga()
		d.Branches[0].Do, d.Branches[0].Undo = target, ""
		if err := checked(d); err != nil {
			t.Errorf("%q: %v", target, err)
		}
	}
}

// askedRule offers nobody who gives no answer of his own: such a hook or check is refused.
const askedRule = "want a function's name, or an address such as https://host/path"

func TestWrongPolicies(t *testing.T) {
	tests := map[string]struct {
		policy txn.Policy
		want   string
	}{
		"negative timeout": {txn.Policy{Timeout: -time.Second}, "branches[0].policy.timeout: -1s"},
		"timeout of 1 ns":  {txn.Policy{Timeout: 1}, "branches[0].policy.timeout: 1ns"},
		"long back-off":    {txn.Policy{Backoff: 1e18}, "branches[0].policy.backoff"},
		"maximum too small": {
			txn.Policy{Backoff: time.Minute, MaxBackoff: time.Second},
			"branches[0].policy.maxBackoff: 1s: less than backoff, 1m0s",
		},
		"attempts": {txn.Policy{Attempts: -1}, "branches[0].policy.attempts: -1: want 0 (no limit) to 1000000000"},
		"too many": {txn.Policy{Attempts: 1e9 + 1}, "branches[0].policy.attempts: 1000000001: want 0 (no limit) to"},
		"far too many": {
			txn.Policy{Attempts: math.MaxInt}, "branches[0].policy.attempts: 2147483647 or more: want 0 (no limit) to",
		},
		"too long": {
			txn.Policy{Timeout: math.MaxInt64},
			"branches[0].policy.timeout: over 292 years: want 0 (default) or 1ms to 720h0m0s",
		},
		"then mistyped": {
			txn.Policy{Then: "Parks"},
			`branches[0].policy.then: "Parks" is not known (did you mean park?); want compensate, park or hook`,
		},
		"then what": {
			txn.Policy{Attempts: 1, Then: "explode"}, `branches[0].policy.then: "explode" is not known; want`,
		},
		"then never": {txn.Policy{Then: txn.Park}, "branches[0].policy.then: never comes"},
		"no hook":    {txn.Policy{Attempts: 1, Then: txn.Hook}, "branches[0].policy.hook: is missing; " + askedRule},
		"idle hook": {
			txn.Policy{Attempts: 1, Then: txn.Park, Hook: "f"}, "branches[0].policy.hook: is never asked",
		},
		"wrong hook": {
			txn.Policy{Attempts: 1, Then: txn.Hook, Hook: "a b"}, `branches[0].policy.hook: "a b": ` + askedRule,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := aSaga()
			d.Branches[0].Policy = &test.policy
			if err := checked(d); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestWrongMessages(t *testing.T) {
	base := func() txn.Definition {
		return txn.Definition{
			Mode: msg.Name, Branches: []txn.Branch{{ID: "a", Confirm: "topic:orders"}},
			Check: &txn.Check{Target: "check", After: time.Second, Policy: &txn.Policy{Attempts: 1, Then: txn.Park}},
			Delay: time.Hour,
		}
	}
	invalidField(t, base, map[string]struct {
		change func(d *txn.Definition)
		want   string
	}{
		"empty": {
			func(d *txn.Definition) { d.Branches = nil }, "branches: a message needs at least one receiver",
		},
		"action": {
			func(d *txn.Definition) { d.Branches[0].Do = "f" }, "branches[0].do: has no meaning in mode msg",
		},
		"compensation": {
			func(d *txn.Definition) { d.Branches[0].Undo = "f" }, "branches[0].undo: has no meaning in mode msg",
		},
		"order": {func(d *txn.Definition) {
			d.Branches = append(d.Branches, txn.Branch{ID: "b", Confirm: "f", After: []string{"a"}})
		}, "branches[1].after: has no meaning in mode msg"},
		"use": {
			func(d *txn.Definition) { d.Branches[0].Use = map[string]string{"x": "a"} },
			"branches[0].use: has no meaning in mode msg",
		},
		"compensate": {
			func(d *txn.Definition) { d.Branches[0].Policy = &txn.Policy{Attempts: 1, Then: txn.Compensate} },
			"branches[0].policy.then: compensate has no meaning in mode msg; want park or hook",
		},
		"then mistyped": {
			func(d *txn.Definition) { d.Branches[0].Policy = &txn.Policy{Attempts: 1, Then: "parks"} },
			`branches[0].policy.then: "parks" is not known (did you mean park?); want park or hook`,
		},
		"check mistyped": {
			func(d *txn.Definition) { d.Check.Policy.Then = "parks" }, "check.policy.then: only park",
		},
		"recovery": {
			func(d *txn.Definition) { d.Recovery = txn.Forward }, "recovery: has no meaning in mode msg",
		},
		"nobody to check": {
			func(d *txn.Definition) { d.Check.Target = "" }, "check.target: is missing; " + askedRule,
		},
		"check after 1 ns": {
			func(d *txn.Definition) { d.Check.After = 1 }, "check.after: 1ns: want 0 (default) or 1ms",
		},
		"delay of 1 ns":  {func(d *txn.Definition) { d.Delay = 1 }, "delay: 1ns: want 0 (none) or 1ms"},
		"negative check": {func(d *txn.Definition) { d.Check.After = -1 }, "check.after: -1ns"},
		"check's policy": {func(d *txn.Definition) { d.Check.Policy.Backoff = -1 }, "check.policy.backoff"},
		"guess": {
			func(d *txn.Definition) { d.Check.Policy.Then = txn.Compensate }, "check.policy.then: only park",
		},
		"timeout or check": {func(d *txn.Definition) { d.Timeout = time.Second }, "timeout: the producer decides"},
	})
}

func TestWrongTCC(t *testing.T) {
	base := func() txn.Definition {
		return txn.Definition{
			Mode: tcc.Name, Branches: []txn.Branch{{ID: "a", Do: "try", Confirm: "confirm", Undo: "cancel"}},
		}
	}
	invalidField(t, base, map[string]struct {
		change func(d *txn.Definition)
		want   string
	}{
		"recovery": {func(d *txn.Definition) { d.Recovery = txn.Forward }, "recovery: has no meaning in mode tcc"},
		"topic": {
			func(d *txn.Definition) { d.Branches[0].Confirm = "topic:x" },
			"branches[0]: a topic has many receivers; want async:topic:x",
		},
		"check": {
			func(d *txn.Definition) { d.Check = &txn.Check{Target: "f"} }, "check: has no meaning in mode tcc",
		},
	})
}

// Checking takes about as long as reading, whatever the definition.
func TestCheckIsNotQuadratic(t *testing.T) {
	d := txn.Definition{Mode: saga.Name, Payload: []byte(`{"x":[` + strings.Repeat("1,", 400_000) + "1]}")}
	for i := range 1000 {
		b := txn.Branch{ID: fmt.Sprint("b", i), Do: "f", Use: map[string]string{}}
		if i > 0 {
			b.After = []string{fmt.Sprint("b", i-1)}
		}
		for j := range min(i, 8) {
			b.Use[fmt.Sprint("x", j)] = fmt.Sprint("b", j)
		}
		d.Branches = append(d.Branches, b)
	}
	reading := took(func() { json.Valid(d.Payload) })
	checking := took(func() {
		if err := checked(d); err != nil {
			t.Fatal(err)
		}
	})
	if checking > 200*reading {
		t.Errorf("checking took %v, reading once %v", checking, reading)
	}
}

// took is the least time of a few runs: what else the machine has to do counts for
// nothing.
func took(f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 5 {
		began := time.Now()
		f()
		least = min(least, time.Since(began))
	}
	return least
}
