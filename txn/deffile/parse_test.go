package deffile_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/deffile"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

const sagaFile = `
# an order
mode: saga
name: order
id: order-42
timeout: 1m30s
parallel: 4
headers: {tenant: "7"}
recovery: backward
steps:
  - id: stock
    action: stock.deduct
    compensate: stock.restore
  - id: pay
    action: https://pay.example/charge
    compensate: https://pay.example/refund
    use: {reservation: stock.id}
    policy: {timeout: 5s, backoff: 100ms, maxBackoff: 2s, attempts: 3, then: hook, hook: ops.ask}
    payload:
      amount: 10.50
      big: 12345678901234567890123
      hex: 0x1F
      day: 2026-11-21
      tags: [a, null, true]
  - id: ship
    steps:
      - id: pack
        action: ship.pack
      - id: label
        action: ship.label
        after: []
  - id: mail
    action: mail.send
    after: [ship, pay]
payload: {order: 42}
`

func TestParseSaga(t *testing.T) {
	got, err := deffile.Parse("order.yaml", []byte(sagaFile))
	if err != nil {
		t.Fatal(err)
	}
	want, err := saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "https://pay.example/charge", "https://pay.example/refund").
		Use("reservation", "stock.id").
		Policy(txn.Policy{
			Timeout: 5 * time.Second, Backoff: 100 * time.Millisecond, MaxBackoff: 2 * time.Second,
			Attempts: 3, Then: txn.Hook, Hook: "ops.ask",
		}).
		Payload([]byte(`{"amount":10.50,"big":12345678901234567890123,"hex":31,"day":"2026-11-21",`+
			`"tags":["a",null,true]}`)).
		Nested("ship", saga.New("ship").Step("pack", "ship.pack", "").Step("label", "ship.label", "").After()).
		Step("mail", "mail.send", "").After("ship", "pay").
		Timeout(90*time.Second).Parallel(4).Backward().Header("tenant", "7").
		ID("order-42").
		Definition([]byte(`{"order":42}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseTCC(t *testing.T) {
	got, err := deffile.Parse("trip.yaml", []byte(`
mode: tcc
name: trip
timeout: 30s
branches:
  - {id: flight, try: flight.try, confirm: flight.confirm, cancel: flight.cancel}
  - {id: points, do: points.add, compensate: points.remove}
  - {id: mail, assured: "topic:trips", payload: hello}
  - id: hotel
    after: flight
    branches:
      - {id: room, try: room.try, cancel: room.cancel}
`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := tcc.New("trip").
		Branch("flight", "flight.try", "flight.confirm", "flight.cancel").
		Compensating("points", "points.add", "points.remove").
		Assured("mail", "topic:trips").Payload([]byte(`"hello"`)).
		Nested("hotel", tcc.New("").Branch("room", "room.try", "", "room.cancel")).After("flight").
		Timeout(30 * time.Second).
		Definition(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseMessageInJSON(t *testing.T) {
	got, err := deffile.Parse("paid.json", []byte(`{
		"mode": "msg", "name": "paid \ud83d\ude00",
		"delay": "1s",
		"check": {"target": "orders.check", "after": "3s", "policy": {"attempts": 5}},
		"deliver": [
			{"id": "mail", "to": "https:\/\/mail.example\/send"},
			{"id": "all", "topic": "orders.paid", "payload": {"n": 1e400}}
		]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := msg.New("paid 😀").
		To("mail", "https://mail.example/send").
		To("all", "topic:orders.paid").Payload([]byte(`{"n":1e400}`)).
		Delay(time.Second).
		Check("orders.check", 3*time.Second, &txn.Policy{Attempts: 5}).
		Definition(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTextsThatLookLikeNumbers are texts when they are in quotes; zeros that numbers do have are
// no mistake.
func TestTextsThatLookLikeNumbers(t *testing.T) {
	d, err := deffile.Parse("x.yaml", []byte("mode: saga\nsteps: [{id: a, action: f}]\n"+
		`payload: ["02134", '1e400', !!str 1e400, 0123-4, 0, -0.50, 0o17, 00:30]`))
	want := `["02134","1e400","1e400","0123-4",0,-0.50,15,"00:30"]`
	if err != nil || string(d.Payload) != want {
		t.Errorf("payload %s, %v; want %s", d.Payload, err, want)
	}
}

func TestBinaryPayload(t *testing.T) {
	d, err := deffile.Parse("x.yaml",
		[]byte("mode: saga\nsteps: [{id: a, action: f}]\npayload: !!binary |\n  aGVs\n  bG8=\n"))
	if err != nil || string(d.Payload) != "hello" {
		t.Errorf("payload %q, %v", d.Payload, err)
	}
}

// What is told with many mistakes.
const (
	targetRule = "want a function's name, an address such as https://host/path, topic:NAME or async:TARGET"
	sagaFields = "want mode, name, id, timeout, parallel, headers, payload, payloadBytes, recovery, steps"
	stepFields = "want id, action, compensate, after, use, payload, payloadBytes, policy, steps"
)

// Every mistake names its line, its field and what is wrong.
func TestMistakes(t *testing.T) {
	const steps = "mode: saga\nsteps:\n  - {id: a, action: f}\n"
	tests := map[string]struct{ text, want string }{
		"empty":           {"", "f.yaml: is empty"},
		"list":            {"- mode: saga", "f.yaml:1: want fields with values, such as mode: saga"},
		"mode of nothing": {"name: x\nmode: null", "f.yaml:1: mode: is missing; want one of saga, tcc, msg"},
		"mode of a list":  {"name: x\nmode: [saga]", "f.yaml:2: mode: want text"},
		"mode in capitals": {
			"mode: SAGA", `f.yaml:1: mode: "SAGA" is not known (did you mean saga?); want one of saga, tcc, msg`,
		},
		"mode in full": {
			"mode: message", `f.yaml:1: mode: "message" is not known (did you mean msg?); want one of saga, tcc, msg`,
		},
		"field of another mode": {
			steps + "delay: 3s", "f.yaml:4: delay: has no meaning in mode saga; " + sagaFields,
		},
		"odd field": {steps + "? a b\n: c", `f.yaml:4: ["a b"]: unknown field; ` + sagaFields},
		"deep": {
			"mode: saga\nsteps:\n- id: a\n  steps:\n  - {id: b, action: f}\n  - id: c\n    action: f\n" +
				"    policy: {atempts: 3}",
			"f.yaml:8: steps[0].steps[1].policy.atempts: unknown field (did you mean attempts?); " +
				"want timeout, backoff, maxBackoff, attempts, then, hook",
		},
		"deep target": {
			"mode: saga\nsteps:\n- id: a\n  steps:\n  - {id: b, action: f}\n  - id: c\n    action: a b",
			`f.yaml:7: steps[0].steps[1].action: "a b": ` + targetRule,
		},
		"text with a list": {
			steps + "headers: {a: [b]}", `f.yaml:4: headers["a"]: want text`,
		},
		"words of the file": {
			"mode: tcc\nbranches:\n- id: a\n  do: f\n  compensate: a b",
			`f.yaml:5: branches[0].compensate: "a b": ` + targetRule,
		},
		"long timeout": {
			steps + "timeout: 99999999999h",
			"f.yaml:4: timeout: over 292 years: want 0 (none) or 1ms to 8784h0m0s",
		},
		"long ago": {
			steps + "timeout: -99999999999h",
			"f.yaml:4: timeout: -2562047h47m16.854775808s: want 0 (none) or 1ms to 8784h0m0s",
		},
		"many attempts": {
			"mode: saga\nsteps:\n- id: a\n  action: f\n  policy: {attempts: 99999999999999999999}",
			"f.yaml:5: steps[0].policy.attempts: 2147483647 or more: want 0 (no limit) to 1000000000",
		},
		"many at once": {
			steps + "parallel: 99999999999",
			"f.yaml:4: parallel: 2147483647 or more: want 0 (default) to 1000",
		},
		"then mistyped": {
			"mode: saga\nsteps:\n- id: a\n  action: f\n  policy: {then: parks}",
			`f.yaml:5: steps[0].policy.then: "parks" is not known (did you mean park?); want compensate, park or hook`,
		},
		"comment": {"# nothing\n", "f.yaml: is empty"},
		"text":    {"hello", "f.yaml:1: want fields with values, such as mode: saga"},
		"no mode": {"name: x", "f.yaml:1: mode: is missing; want one of saga, tcc, msg"},
		"unknown mode": {
			"mode: sga", `f.yaml:1: mode: "sga" is not known (did you mean saga?); want one of saga, tcc, msg`,
		},
		"broken":      {"mode: saga\nsteps: [", "f.yaml:2: did not find expected node content"},
		"no steps":    {"mode: saga\nsteps: []", "f.yaml:2: steps: a saga needs at least one step"},
		"no branches": {"mode: tcc\n", "f.yaml:1: branches: there are none"},
		"unknown field": {
			steps + "timeot: 3s", "f.yaml:4: timeot: unknown field (did you mean timeout?); " + sagaFields,
		},
		"unknown in step": {
			"mode: saga\nsteps:\n  - id: a\n    acton: f",
			"f.yaml:4: steps[0].acton: unknown field (did you mean action?); " + stepFields,
		},
		"twice": {steps + "name: a\nname: b", `f.yaml:5: field "name" is there twice`},
		"twice in step": {
			"mode: saga\nsteps:\n  - id: a\n    action: f\n    action: g",
			`f.yaml:5: steps[0]: field "action" is there twice`,
		},
		"twice in payload": {steps + "payload:\n  a: 1\n  a: 2", `f.yaml:6: payload: field "a" is there twice`},
		"no id": {
			"mode: saga\nsteps:\n  - {action: f}",
			"f.yaml:3: steps[0].id: is missing; want 1 to 64 letters, digits and _ - /",
		},
		"id of nothing": {
			"mode: saga\nsteps:\n  - {id: a, action: f}\n  - {id: \"\", action: g}",
			`f.yaml:4: steps[1].id: "": want 1 to 64 letters, digits and _ - /`,
		},
		"id of nothing around others": {
			"mode: saga\nsteps:\n  - id: \"\"\n    steps: [{id: a, action: f}]",
			`f.yaml:3: steps[0].id: "": want 1 to 64 letters, digits and _ - /`,
		},
		"assured id of nothing": {
			"mode: tcc\nbranches:\n  - {id: \"\", assured: f}",
			`f.yaml:3: branches[0].id: "": want 1 to 64 letters, digits and _ - /`,
		},
		"receiver's id of nothing": {
			"mode: msg\ndeliver:\n  - {id: \"\", to: f}",
			`f.yaml:3: deliver[0].id: "": want 1 to 64 letters, digits and _ - /`,
		},
		"of the API": {
			"definition:\n  mode: saga",
			"f.yaml:1: mode: is missing; want one of saga, tcc, msg\n" +
				"f.yaml:1: definition: unknown field; want mode, name, id, timeout, parallel, headers, payload, " +
				"payloadBytes, branches, check, delay, deliver, recovery, steps",
		},
		"bad id": {
			"mode: saga\nsteps:\n  - {id: a b, action: f}",
			`f.yaml:3: steps[0].id: "a b": want 1 to 64 letters, digits and _ - /`,
		},
		"same id": {steps + "  - {id: a, action: g}", `f.yaml:4: steps[1].id: "a" is there twice`},
		"same as nested": {
			steps + "  - {id: a, steps: [{id: b, action: g}]}", "f.yaml:3: steps: two parts are called a",
		},
		"empty nested": {steps + "  - {id: b, steps: []}", "f.yaml:3: steps: nested b is empty"},
		"calls nobody": {"mode: saga\nsteps:\n  - {id: a}", `f.yaml:3: steps[0]: "a" calls nobody`},
		"unknown after": {
			steps + "  - id: b\n    action: g\n    after: [x]",
			`f.yaml:6: steps[1].after: "b" waits for "x", which is not there`,
		},
		"circle": {
			"mode: saga\nsteps:\n  - {id: a, action: f, after: b}\n  - {id: b, action: f, after: a}",
			`f.yaml:3: steps[0].after: "a" waits for itself in a circle`,
		},
		"bad target": {
			"mode: saga\nsteps:\n  - id: a\n    action: http:///x",
			`f.yaml:4: steps[0].action: "http:///x" names no host`,
		},
		"bad compensation": {
			"mode: saga\nsteps:\n  - id: a\n    action: f\n    compensate: a b",
			`f.yaml:5: steps[0].compensate: "a b": ` + targetRule,
		},
		"use of nobody": {
			steps + "  - id: b\n    action: g\n    use:\n      x: c.id",
			`f.yaml:7: steps[1].use["x"]: there is no "c"`,
		},
		"bad duration": {steps + "timeout: 30", `f.yaml:4: timeout: "30": want a duration such as 30s or 1m30s`},
		"negative":     {steps + "timeout: -30s", "f.yaml:4: timeout: -30s: want 0 (none) or 1ms to 8784h0m0s"},
		"bad number":   {steps + "parallel: many", `f.yaml:4: parallel: "many": want a whole number`},
		"policy": {
			"mode: saga\nsteps:\n  - id: a\n    action: f\n    policy:\n      attempts: 1\n      then: explode",
			`f.yaml:7: steps[0].policy.then: "explode" is not known; want compensate, park or hook`,
		},
		"recovery":      {steps + "recovery: sideways", `f.yaml:4: recovery: "sideways": want backward or forward`},
		"alias":         {"mode: saga\nname: &x y\nid: *x", "f.yaml:2: anchors and aliases are not supported"},
		"merge":         {"mode: saga\n<<: {name: x}", "f.yaml:2: a field's name must be plain text"},
		"two documents": {steps + "---\nmode: tcc", "f.yaml:4: a second document; want one transaction per file"},
		"tag":           {steps + "payload: !go x", "f.yaml:4: payload: tag !go is not supported"},
		"infinite": {
			steps + "payload: {a: .inf}", "f.yaml:4: payload: .inf cannot be written as JSON: write it in quotes",
		},
		"leading zero": {
			steps + "payload:\n  zip: 02134",
			"f.yaml:5: payload: 02134 begins with a zero, as no number does: write it in quotes",
		},
		"leading zero, not octal": {
			steps + "payload: [-089.5]",
			"f.yaml:4: payload: -089.5 begins with a zero, as no number does: write it in quotes",
		},
		"too large a number": {
			steps + "payload: {a: 1e400}", "f.yaml:4: payload: 1e400 is too large for a number: write it in quotes",
		},
		"not UTF-8":     {"mode: \xff", "f.yaml: is not UTF-8"},
		"list for text": {"mode: saga\nname: [a]\nsteps: [{id: a, action: f}]", "f.yaml:2: name: want text"},
		"text for list": {"mode: saga\nsteps: a", "f.yaml:2: steps: want a list"},
		"text for step": {"mode: saga\nsteps: [a]", "f.yaml:2: steps[0]: want fields with values"},
		"two kinds": {
			"mode: tcc\nbranches:\n  - {id: a, try: f, do: g}",
			"f.yaml:3: branches[0]: want try, confirm and cancel, or do and compensate, or assured, or branches",
		},
		"to and topic": {
			"mode: msg\ndeliver:\n  - {id: a, to: f, topic: g}", "f.yaml:3: deliver[0]: want to, or topic",
		},
		"bad topic": {
			"mode: msg\ndeliver:\n  - {id: a, topic: 'g h'}", `f.yaml:3: deliver[0].topic: "topic:g h": ` + targetRule,
		},
		"topic in a saga": {
			"mode: saga\nsteps:\n  - {id: a, action: 'topic:x'}",
			"f.yaml:3: steps[0]: a topic has many receivers; want async:topic:x, or a message",
		},
		"bad header": {steps + "headers: {cookie: x}", `f.yaml:4: headers["cookie"]: may not be passed on`},
		"base64":     {steps + "payload: !!binary '?'", "f.yaml:4: payload: want base64"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := deffile.Parse("f.yaml", []byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestMistakesInJSON(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"broken": {
			"{\n\"mode\": \"saga\",\n\"steps\": [}",
			"f.json:3: invalid character '}' looking for beginning of value",
		},
		"cut off": {"{\"mode\": \"saga\",\n", "f.json:1: unexpected EOF"},
		"more": {
			`{"mode": "saga", "steps": [{"id": "a", "action": "f"}]} {}`, "f.json:1: there is something after the end",
		},
		"twice": {
			"{\"mode\": \"saga\",\n\"name\": \"a\",\n\"name\": \"b\"}", `f.json:3: field "name" is there twice`,
		},
		"unknown": {
			"{\"mode\": \"saga\",\n\n\"nam\": \"a\"}",
			"f.json:3: nam: unknown field (did you mean name?); " + sagaFields,
		},
		"YAML":  {"mode: saga", "f.json:1: invalid character 'm' looking for beginning of value"},
		"empty": {"", "f.json:1: unexpected EOF"},
		"escaped half": {
			`{"mode": "saga", "name": "\ud83d"}`, "f.json:1: name: \"\uFFFD\": want at most 128 bytes, printable",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := deffile.Parse("f.json", []byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// Several mistakes are told at once, and each is an *Error; but not thousands.
func TestSeveralMistakes(t *testing.T) {
	_, err := deffile.Parse("f.yaml", []byte("mode: saga\nnam: x\ntimeout: 3\nsteps: [{}]"))
	if n := strings.Count(err.Error(), "f.yaml:"); n != 3 {
		t.Errorf("%d mistakes in %v", n, err)
	}
	first, ok := errors.AsType[*deffile.Error](err)
	if !ok || first.File != "f.yaml" || first.Line != 2 {
		t.Errorf("first is %+v", first)
	}
	_, err = deffile.Parse("f.yaml", []byte("mode: saga\nsteps:\n"+strings.Repeat("  - {}\n", 5000)))
	if n := strings.Count(err.Error(), "f.yaml:"); n != 10 {
		t.Errorf("%d mistakes told", n)
	}
}

// What is too large or too deep is refused, in bounded time and memory.
func TestBombs(t *testing.T) {
	alias := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		alias += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ","))
	}
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, "- {id: s%d, action: f}\n", i)
	}
	var wide strings.Builder // every step waits for all the leaves of a nested saga
	wide.WriteString("mode: saga\nsteps:\n- id: n\n  steps:\n")
	for i := range 4000 {
		fmt.Fprintf(&wide, "  - {id: i%d, action: f, after: []}\n", i)
	}
	for i := range 4000 {
		fmt.Fprintf(&wide, "- {id: o%d, action: f, after: n}\n", i)
	}
	nested := strings.Repeat(`{"mode":"saga","steps":[{"id":"a","steps":[`, 3000)
	tests := map[string]struct{ text, want string }{
		"aliases":       {alias, "anchors and aliases are not supported"},
		"100,000 steps": {"mode: saga\nsteps:\n" + many.String(), "too large"},
		"20,000 steps": {
			"mode: saga\nsteps: [" + strings.Repeat("{id: a, action: f},", 20_000) + "]", "more than 10000 steps",
		},
		"wide":             {wide.String(), "too many of them wait for too many others"},
		"deep flow":        {strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "more than 100 times"},
		"deeper flow":      {strings.Repeat("[", 20_000), "exceeded max depth"},
		"deep maps":        {strings.Repeat("{a: ", 12_000), "exceeded max depth"},
		"deep blocks":      {strings.Repeat("- ", 12_000), "exceeded max depth"},
		"deep JSON":        {strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "more than 100 times"},
		"deep nested JSON": {nested, "f.yaml"},
		"long text":        {"mode: saga\nname: " + strings.Repeat("x", 5<<20), "too large"},
		"many values":      {"[" + strings.Repeat("x,", 400_000) + "]", "too large"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := deffile.Parse("f.yaml", []byte(test.text))
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %.300v\nwant %s", err, test.want)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 256 || took > 10*time.Second {
				t.Errorf("used %d MB and %v", used, took)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("f.yaml", []byte(sagaFile))
	f.Add("f.json", []byte(`{"mode":"msg","deliver":[{"id":"a","to":"f"}],"payload":{"a":[1,-2.5e3,"x",null,false]}}`))
	f.Add("f.yaml", []byte("mode: tcc\nbranches: [{id: a, try: f, confirm: g, cancel: h}, {id: b, assured: f}]"))
	f.Add("f.yaml", []byte("? [a]\n: &x b\n<<: *x"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		d, err := deffile.Parse(name, data)
		if err != nil {
			if _, ok := errors.AsType[*deffile.Error](err); !ok {
				t.Errorf("%T: %v", err, err)
			}
			return
		}
		if d.Mode == "" || len(d.Branches) == 0 {
			t.Errorf("accepted %+v", d)
		}
	})
}
