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
		Payload([]byte(`{"amount":10.50,"big":12345678901234567890123,"hex":31,"day":"2026-11-21","tags":["a",null,true]}`)).
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

func TestBinaryPayload(t *testing.T) {
	d, err := deffile.Parse("x.yaml", []byte("mode: saga\nsteps: [{id: a, action: f}]\npayload: !!binary |\n  aGVs\n  bG8=\n"))
	if err != nil || string(d.Payload) != "hello" {
		t.Errorf("payload %q, %v", d.Payload, err)
	}
}

// Every mistake names its line and what is wrong.
func TestMistakes(t *testing.T) {
	const steps = "mode: saga\nsteps:\n  - {id: a, action: f}\n"
	tests := map[string]struct{ text, want string }{
		"empty":            {"", "f.yaml: is empty"},
		"comment":          {"# nothing\n", "f.yaml: is empty"},
		"text":             {"hello", "f.yaml:1: mode is missing; want saga, tcc or msg"},
		"no mode":          {"name: x", "f.yaml:1: mode is missing; want saga, tcc or msg"},
		"unknown mode":     {"mode: sga", `f.yaml:1: mode "sga" is not known (did you mean saga?); want saga, tcc or msg`},
		"broken":           {"mode: saga\nsteps: [", "f.yaml:2: did not find expected node content"},
		"no steps":         {"mode: saga\nsteps: []", "f.yaml:2: steps: a saga needs at least one step"},
		"no branches":      {"mode: tcc\n", "f.yaml:1: branches: there are none"},
		"unknown field":    {steps + "timeot: 3s", `f.yaml:4: saga: unknown field "timeot" (did you mean timeout?); want mode, name,`},
		"unknown in step":  {"mode: saga\nsteps:\n  - id: a\n    acton: f", `f.yaml:4: step: unknown field "acton" (did you mean action?); want id, action`},
		"twice":            {steps + "name: a\nname: b", `f.yaml:5: field "name" is there twice`},
		"twice in step":    {"mode: saga\nsteps:\n  - id: a\n    action: f\n    action: g", `f.yaml:5: field "action" is there twice`},
		"twice in payload": {steps + "payload:\n  a: 1\n  a: 2", `f.yaml:6: field "a" is there twice`},
		"no id":            {"mode: saga\nsteps:\n  - {action: f}", "f.yaml:3: id is missing"},
		"bad id":           {"mode: saga\nsteps:\n  - {id: a b, action: f}", `f.yaml:3: "a b": id: "a b": want 1 to 64`},
		"same id":          {steps + "  - {id: a, action: g}", `f.yaml:4: "a": id: "a" is there twice`},
		"same as nested":   {steps + "  - {id: a, steps: [{id: b, action: g}]}", "two parts are called a"},
		"empty nested":     {steps + "  - {id: b, steps: []}", "nested b is empty"},
		"calls nobody":     {"mode: saga\nsteps:\n  - {id: a}", `branch "a" calls nobody`},
		"unknown after":    {steps + "  - id: b\n    action: g\n    after: [x]", `f.yaml:6: "b": after: branch "b" waits for "x", which is not there`},
		"circle": {
			"mode: saga\nsteps:\n  - {id: a, action: f, after: b}\n  - {id: b, action: f, after: a}",
			`waits for itself in a circle`,
		},
		"bad target":       {"mode: saga\nsteps:\n  - id: a\n    action: ftp://x", `f.yaml:4: "a": action: "ftp://x": scheme "ftp" is not known`},
		"bad compensation": {"mode: saga\nsteps:\n  - id: a\n    action: f\n    compensate: a b", `f.yaml:5: "a": compensate: "a b"`},
		"use of nobody":    {steps + "  - id: b\n    action: g\n    use:\n      x: c.id", `f.yaml:7: "b": use["x"]: there is no branch "c"`},
		"bad duration":     {steps + "timeout: 30", `f.yaml:4: timeout: "30": want a duration such as 30s`},
		"negative":         {steps + "timeout: -30s", `f.yaml:4: timeout: -30s: want 0 (none)`},
		"bad number":       {steps + "parallel: many", `f.yaml:4: parallel: "many": want a whole number`},
		"policy":           {"mode: saga\nsteps:\n  - id: a\n    action: f\n    policy:\n      attempts: 1\n      then: explode", `f.yaml:7: "a": policy.then: "explode": want compensate, park or hook`},
		"recovery":         {steps + "recovery: sideways", `f.yaml:4: recovery: "sideways"`},
		"alias":            {"mode: saga\nname: &x y\nid: *x", "f.yaml:2: anchors and aliases are not supported"},
		"merge":            {"mode: saga\n<<: {name: x}", "f.yaml:2: a field's name must be plain text"},
		"two documents":    {steps + "---\nmode: tcc", "a second document"},
		"tag":              {steps + "payload: !go x", "f.yaml:4: tag !go is not supported"},
		"infinite":         {steps + "payload: {a: .inf}", "f.yaml:4: .inf cannot be written as JSON"},
		"not UTF-8":        {"mode: \xff", "f.yaml: is not UTF-8"},
		"list for text":    {"mode: saga\nname: [a]\nsteps: [{id: a, action: f}]", "f.yaml:2: name: want text"},
		"text for list":    {"mode: saga\nsteps: a", "f.yaml:2: steps: want a list"},
		"text for step":    {"mode: saga\nsteps: [a]", "f.yaml:2: step: want fields with values"},
		"two kinds":        {"mode: tcc\nbranches:\n  - {id: a, try: f, do: g}", `f.yaml:3: branch "a": want try, confirm and cancel, or`},
		"to and topic":     {"mode: msg\ndeliver:\n  - {id: a, to: f, topic: g}", `f.yaml:3: receiver "a": want to, or topic`},
		"bad topic":        {"mode: msg\ndeliver:\n  - {id: a, topic: 'g h'}", `f.yaml:3: "a": to: "topic:g h"`},
		"topic in a saga":  {"mode: saga\nsteps:\n  - {id: a, action: 'topic:x'}", `a topic has many receivers`},
		"bad header":       {steps + "headers: {cookie: x}", `f.yaml:4: headers["cookie"]: may not be passed on`},
		"base64":           {steps + "payload: !!binary '?'", "f.yaml:4: payload: not base64"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := deffile.Parse("f.yaml", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestMistakesInJSON(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"broken":       {"{\n\"mode\": \"saga\",\n\"steps\": [}", "f.json:3: invalid character '}'"},
		"cut off":      {"{\"mode\": \"saga\",\n", "f.json:1: unexpected EOF"},
		"more":         {`{"mode": "saga", "steps": [{"id": "a", "action": "f"}]} {}`, "there is something after the end"},
		"twice":        {"{\"mode\": \"saga\",\n\"name\": \"a\",\n\"name\": \"b\"}", `f.json:3: field "name" is there twice`},
		"unknown":      {"{\"mode\": \"saga\",\n\n\"nam\": \"a\"}", `f.json:3: saga: unknown field "nam" (did you mean name?)`},
		"YAML":         {"mode: saga", "f.json:1: invalid character"},
		"empty":        {"", "f.json:1: unexpected EOF"},
		"escaped half": {`{"mode": "saga", "name": "\ud83d"}`, "f.json:1: name: \"\uFFFD\": want at most 128 bytes, printable"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := deffile.Parse("f.json", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
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
		"aliases":          {alias, "anchors and aliases are not supported"},
		"100,000 steps":    {"mode: saga\nsteps:\n" + many.String(), "too large"},
		"20,000 steps":     {"mode: saga\nsteps: [" + strings.Repeat("{id: a, action: f},", 20_000) + "]", "more than 10000 steps"},
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
