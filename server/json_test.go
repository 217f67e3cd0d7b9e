package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server"
)

func TestCurlSubmitsAndWaits(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, transactions+"Submit", `{"definition": {"id": "o-1", "mode": "saga", "name": "order",
		"timeout": "30s",
		"payload": {"amount": 3}, "steps": [{"id": "a", "action": "echo", "compensate": "undo"}]}, "wait": true}`)
	a.want(t, 200)
	if a.at("id") != "o-1" || a.at("result.outcome") != "committed" ||
		a.at("result.returned.a.amount") != json.Number("3") {
		t.Errorf("answer %s", a.body)
	}
}

func TestRolledBackIsAnOutcomeNotAnError(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, transactions+"Submit",
		`{"definition": {"mode": "saga", "steps": [{"id": "a", "action": "refuse", "compensate": "undo"}]}, `+
			`"wait": true}`)
	a.want(t, 200, "rolled-back", "sold out")
}

func TestWaitEndsWithPending(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{Wait: 20e6}
	s := serve(t, c, nil)
	a := s.post(t, transactions+"Submit",
		`{"definition": {"id": "slow", "mode": "saga", "steps": [{"id": "a", "action": "later", "compensate": `+
			`"undo"}]}, "wait": true}`)
	a.want(t, 200, "in-doubt")
	if a.at("result.pending") != true {
		t.Errorf("answer %s: want pending", a.body)
	}
	s.post(t, transactions+"Wait", `{"id": "slow"}`).want(t, 200, "pending")
}

// TestPayloadsKeepTheirNumbers: a protobuf value would round them.
func TestPayloadsKeepTheirNumbers(t *testing.T) {
	s := serve(t, config(t), nil)
	for _, payload := range []string{
		`9007199254740993`, `{"id":9007199254740993,"b":[1,2.50]}`, `12345678901234567.89`, `"text"`, `null`, `[]`,
		`{}`, `0.1`, `-1.5e-7`,
	} {
		for _, place := range []string{
			`{"definition": {"mode": "saga", "payload": %s, "steps": [{"id": "a", "action": "echo", "compensate": ` +
				`"undo"}]}, "wait": true}`,
			`{"definition": {"mode": "saga", "steps": [{"id": "a", "action": "echo", "compensate": "undo", ` +
				`"payload": %s}]}, "wait": true}`,
		} {
			a := s.post(t, transactions+"Submit", fmt.Sprintf(place, payload))
			a.want(t, 200, "committed")
			if got := returned(t, a, "a"); got != payload && !sameNumber(got, payload) {
				t.Errorf("payload %s came back as %s", payload, got)
			}
		}
	}
}

// returned is what a branch returned, as text.
func returned(t *testing.T, a answer, branch string) string {
	t.Helper()
	var body struct {
		Result struct {
			Returned      map[string]json.RawMessage `json:"returned"`
			ReturnedBytes map[string][]byte          `json:"returnedBytes"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatal(err)
	}
	if text, ok := body.Result.ReturnedBytes[branch]; ok {
		return string(text)
	}
	return string(body.Result.Returned[branch])
}

// sameNumber compares small numbers, which may be written differently.
func sameNumber(a, b string) bool {
	var x, y float64
	return len(a) < 12 && json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

func TestBytesAreTakenAsTheyAre(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, transactions+"Submit",
		`{"definition": {"mode": "saga", "payloadBytes": "AAEC/w==", "steps": [{"id": "a", "action": "echo", `+
			`"compensate": "undo"}]}, "wait": true}`)
	a.want(t, 200, `"returnedBytes"`, "AAEC/w==")
}

func TestSubmitTwiceWithOtherSpaces(t *testing.T) {
	s := serve(t, config(t), nil)
	submit := func(payload string) answer {
		return s.post(t, transactions+"Submit",
			`{"definition": {"id": "x", "mode": "saga", "payload": `+payload+
				`, "steps": [{"id": "a", "action": "echo", "compensate": "undo"}]}}`)
	}
	submit(`{"a": 1,   "b": 2}`).want(t, 200)
	submit(`{"a":1,"b":2}`).want(t, 200)
	submit(`{"a":1,"b":3}`).want(t, 409, "already_exists", "other content")
}

func TestGetShowsEverything(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, transactions+"Submit",
		`{"definition": {"id": "g", "mode": "saga", "payload": {"n": 1}, "steps": [{"id": "a", "action": "echo", `+
			`"compensate": "undo"}]}, "wait": true}`)
	a := s.post(t, transactions+"Get", `{"id": "g"}`)
	a.want(t, 200, `"committed"`, `"done"`, `"attempts"`)
	if a.at("transaction.definition.payload.n") != json.Number("1") {
		t.Errorf("answer %s: want the payload readable", a.body)
	}
	s.post(t, transactions+"List", `{"status": ["committed"], "limit": 10}`).want(t, 200, `"g"`)
	s.post(t, transactions+"List", `{}`, "Content-Type", "application/json; charset=utf-8").want(t, 200, `"g"`)
}

func TestBadRequests(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{Body: 4096}
	s := serve(t, c, nil)
	saga := func(fields string) string {
		return `{"definition": {"mode": "saga", ` + fields + `}}`
	}
	for name, tc := range map[string]struct {
		path, body string
		status     int
		parts      []string
	}{
		"empty":    {"Submit", ``, 400, []string{"invalid_argument", "body: is empty"}},
		"broken":   {"Submit", `{"definition": `, 400, []string{"invalid_argument", "unexpected"}},
		"trailing": {"Get", `{"id": "a"} x`, 400, []string{"invalid_argument"}},
		"array":    {"Submit", `[]`, 400, []string{"invalid_argument"}},
		"unknown field": {
			"Submit", saga(`"branchez": []`), 400, []string{"invalid_argument", "branchez: unknown field"},
		},
		"other case":     {"Submit", saga(`"Branches": []`), 400, []string{"invalid_argument", "Branches"}},
		"twice":          {"Get", `{"id": "a", "id": "b"}`, 400, []string{"invalid_argument", "id: is there twice"}},
		"wrong type":     {"Submit", saga(`"steps": [{"id": 7}]`), 400, []string{"invalid_argument"}},
		"wrong duration": {"Submit", saga(`"timeout": 30`), 400, []string{"invalid_argument"}},
		"no definition":  {"Submit", `{}`, 400, []string{"definition: is missing"}},
		"field named": {
			"Submit", saga(`"steps": [{"id": "a", "action": "x", "after": ["b"]}]`), 400, []string{"steps[0].after"},
		},
		"unknown mode": {
			"Submit", `{"definition": {"mode": "magic"}}`, 400, []string{`mode: \"magic`, "saga, tcc, msg"},
		},
		"not found":      {"Get", `{"id": "nobody"}`, 404, []string{"not_found", "Problem"}},
		"wait not found": {"Wait", `{"id": "nobody"}`, 404, []string{"not_found"}},
		"unknown action": {"Act", `{"id": "a", "action": "resum"}`, 400, []string{"action:", "(did you mean resume?)"}},
		"unknown status": {"List", `{"status": ["happy"]}`, 400, []string{"status[0]", "happy", "open, running"}},
		"limit":          {"List", `{"limit": 100000}`, 400, []string{"limit:", "1000"}},
		"body too large": {
			"Submit", saga(`"name": "` + strings.Repeat("x", 5000) + `"`), 429, []string{"resource_exhausted", "4096"},
		},
		"no procedure": {"Explode", `{}`, 404, nil},
		"deep": {
			"Submit", saga(`"payload": ` + strings.Repeat("[", 2000)), 400, []string{"invalid_argument"},
		},
		"not UTF-8":     {"Get", "{\"id\": \"\xff\"}", 400, []string{"invalid_argument"}},
		"payload twice": {"Submit", saga(`"payload": 1, "payloadBytes": "AA=="`), 400, []string{"invalid_argument"}},
		"negative seconds": {
			"Submit", saga(`"timeout": "-1s", "steps": [{"id": "a", "action": "x", "compensate": "y"}]`), 400,
			[]string{"timeout:"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.post(t, transactions+tc.path, tc.body).want(t, tc.status, tc.parts...)
		})
	}
}

func TestWrongContentType(t *testing.T) {
	s := serve(t, config(t), nil)
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", ""} {
		a := s.send(t, http.DefaultClient, http.MethodPost, transactions+"Get", `{"id": "a"}`, "Content-Type", kind)
		a.want(t, http.StatusUnsupportedMediaType)
		if a.header.Get("Accept-Post") == "" {
			t.Errorf("%q: the answer does not say what is accepted", kind)
		}
	}
	s.send(t, http.DefaultClient, http.MethodGet, transactions+"Get", "").want(t, http.StatusMethodNotAllowed)
}

// TestDurationsAreWrittenAsInFiles: with any units, wherever they are.
func TestDurationsAreWrittenAsInFiles(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, locks+"Acquire", `{"name": "a", "ttl": "1m30s", "wait": "1ms", "meta": {"host": "web-7"}}`)
	a.want(t, 200)
	if a.at("grant.ttl") != "90s" {
		t.Error(a.body)
	}
	renewal := `{"grants": [{"name": "a", "owner": %q, "ttl": "1h"}]}`
	a = s.post(t, locks+"Renew", fmt.Sprintf(renewal, a.at("grant.owner")))
	a.want(t, 200, "renewed")
	for text, want := range map[string]string{
		`{"name": "a", "ttl": "1m30"}`:      `want a duration such as 30s or 1m30s`,
		`["ttl", "1m"]`:                     "body: want an object with fields",
		`{"grants": ["ttl", "1m"]}`:         "grants[0]: want an object with fields",
		`{"grants": [{"ttl": "1m"}, "1m"]}`: "grants[1]: want an object with fields",
		`{"grants": [{"ttl": "1m"}]`:        "body: syntax error in line 1: unexpected end of JSON input",
	} {
		way := "Acquire"
		if strings.Contains(text, "grants") {
			way = "Renew"
		}
		s.post(t, locks+way, text).want(t, 400, want)
	}
}

func TestLocksWithCurl(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, locks+"Acquire", `{"name": "orders/42", "ttl": "30s"}`)
	a.want(t, 200, `"owner"`)
	if text, _ := a.at("grant.token").(string); strings.Trim(text, "0123456789") != "" || text == "" {
		t.Errorf("token %v, want a number as a string", a.at("grant.token"))
	}
	owner, _ := a.at("grant.owner").(string)
	s.post(t, locks+"Acquire", `{"name": "orders/42"}`).want(t, 409, "already_exists",
		"held by "+driver.PublicOwner(owner))
	s.post(t, locks+"Acquire", `{"name": "orders/42", "wait": "0.02s"}`).want(t, 409, "already_exists")
	s.post(t, locks+"Renew",
		`{"grants": [{"name": "orders/42", "owner": "`+owner+
			`", "ttl": "30s"}, {"name": "b", "owner": "c", "ttl": "1s"}]}`).
		want(t, 200, "renewed", "lost")
	s.post(t, locks+"Browse", `{"prefix": "orders/"}`).want(t, 200, "orders/42", driver.PublicOwner(owner))
	s.post(t, locks+"Release", `{"grant": {"name": "orders/42", "owner": "stranger"}}`).want(t, 409, "aborted")
	s.post(t, locks+"Release", `{"grant": {"name": "orders/42", "owner": "`+owner+`"}}`).want(t, 200)
	s.post(t, locks+"Inspect", `{"name": "orders/42"}`).want(t, 200, "orders/42")
	s.post(t, locks+"ForceRelease", `{"name": "orders/42", "reason": "test"}`).want(t, 200)
	s.post(t, locks+"Diagnose", `{}`).want(t, 200, "findings")
	s.post(t, locks+"Identify", `{}`).want(t, 200, "identity", "memory ")
	s.post(t, locks+"Acquire", `{"name": "b", "above": "2000000000000000", "ttl": "20ms"}`).
		want(t, 200, `"token":"2000000000000001"`)
	s.post(t, locks+"Acquire", `{"name": "c", "mode": "vote", "age": "24h"}`).
		want(t, 503, "unavailable", `"kind":"young"`, "started a short while ago")
	s.post(t, locks+"Acquire", `{"name": "c", "mode": "shared", "age": "1s"}`).want(t, 400, "above and age")
	s.post(t, locks+"Acquire", `{"name": "c", "age": "25h"}`).want(t, 400, "age: ")
}

// TestALockIsDescribedInAnotherShape than it was asked for.
func TestALockIsDescribedInAnotherShape(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Acquire", `{"name": "a", "ttl": "30s", "meta": {"host": "web-7", "why": "\"x\""}}`).want(t, 200)
	a := s.post(t, locks+"Inspect", `{"name": "a"}`)
	holders, _ := a.at("lock.holders").([]any)
	if len(holders) != 1 {
		t.Fatal(a.body)
	}
	holder, _ := holders[0].(map[string]any)
	meta, _ := holder["meta"].(map[string]any)
	s.post(t, locks+"Acquire", `{"name": "b", "meta": "{\"host\": \"web-7\"}"}`).want(t, 200)
	s.post(t, locks+"Inspect", `{"name": "b"}`).want(t, 200, `"meta":{"host":"web-7"}`)
	s.post(t, locks+"Acquire", `{"name": "c", "meta": {"n": 1}}`).want(t, 400, "meta: want texts in it")
	s.post(t, locks+"Acquire", `{"name": "c", "meta": {"n": null}}`).want(t, 400, "meta: want texts in it")
	for _, meta := range []string{"{\"host\": \"\xff\"}", `{"host": "\ud800"}`, `{"host": "x", "host": "y"}`} {
		s.post(t, locks+"Acquire", `{"name": "c", "meta": `+meta+`}`).want(t, 400, "meta: want each name once")
	}
	s.post(t, locks+"Acquire", `{"name": "c", "meta": {"a": "b"}, "tll": "1s"}`).want(t, 400, "did you mean ttl?")
	if len(meta) != 2 || meta["host"] != "web-7" || meta["why"] != `"x"` {
		t.Errorf("meta %v", meta)
	}
	if left, err := time.ParseDuration(fmt.Sprint(holder["ttl"])); err != nil || left <= 0 || left > 30*time.Second {
		t.Errorf("ttl %v", holder["ttl"])
	}
}

func TestBadLockRequests(t *testing.T) {
	s := serve(t, config(t), nil)
	for name, tc := range map[string]struct{ path, body, part string }{
		"no name": {"Acquire", `{}`, "name: is empty"},
		"control": {"Acquire", `{"name": "a\nb"}`, `"name: \"a\\nb\" has a control character at byte 1"`},
		"long": {
			"Acquire", `{"name": "` + strings.Repeat("x", 513) + `"}`, "name: is 513 bytes long, the limit is 512",
		},
		"short ttl": {"Acquire", `{"name": "a", "ttl": "0.001s"}`, "ttl: is 1ms, allowed are 10ms to 24h"},
		"zero ttl":  {"Acquire", `{"name": "a", "ttl": "0s"}`, "ttl: is 0s"},
		"long ttl":  {"Acquire", `{"name": "a", "ttl": "90000s"}`, "ttl:"},
		"tokens":    {"Acquire", `{"name": "a", "tokens": 100000}`, "tokens:"},
		"unknown mode": {
			"Acquire", `{"name": "a", "mode": "magic"}`,
			`mode: is \"magic\", there are exclusive, shared, write and permit`,
		},
		"mutex permits": {"Acquire", `{"name": "a", "permits": 1}`, "permits: are for mode permit, not exclusive"},
		"fair readers": {
			"Acquire", `{"name": "a", "mode": "shared", "fair": true}`, "fair: is for mode exclusive, not shared",
		},
		"no permits": {
			"Acquire", `{"name": "a", "mode": "permit", "limit": 3}`, "permits: is 0, allowed are 1 to 3",
		},
		"grant's mode":  {"Release", `{"grant": {"name": "a", "owner": "me", "mode": "magic"}}`, "grant.mode: is"},
		"negative wait": {"Acquire", `{"name": "a", "wait": "-1s"}`, "wait:"},
		"no owner":      {"Release", `{"grant": {"name": "a"}}`, "grant.owner: is empty"},
		"as metadata":   {"Acquire", `{"name": "a", "owner": "bedrock:meta"}`, "owner: is reserved"},
		"as a mode":     {"Release", `{"grant": {"name": "a", "owner": "mode"}}`, "grant.owner: is reserved"},
		"long owner": {
			"Acquire", `{"name": "a", "owner": "` + strings.Repeat("x", 129) + `"}`,
			"owner: is 129 bytes long, the limit is 128",
		},
		"no grant": {"Release", `{}`, "grant.name: is empty"},
		"renewals": {
			"Renew", `{"grants": [{}` + strings.Repeat(", {}", 10_000) + `]}`, "grants: 10001: at most 10000",
		},
		"long meta": {"Acquire", `{"name": "a", "meta": {"a": "` + strings.Repeat("x", 5000) + `"}}`, "meta:"},
		"browse":    {"Browse", `{"limit": -1}`, "limit:"},
	} {
		t.Run(name, func(t *testing.T) {
			s.post(t, locks+tc.path, tc.body).want(t, 400, "invalid_argument", tc.part)
		})
	}
}

// A grant that is not acceptable is one client's mistake: the other grants of the same
// request are renewed, or their holders would lose them.
func TestOneBadGrantDoesNotSpoilTheRenewalOfOthers(t *testing.T) {
	s := serve(t, config(t), nil)
	for _, name := range []string{"a", "b"} {
		s.post(t, locks+"Acquire", `{"name": "`+name+`", "owner": "me", "ttl": "10s"}`).want(t, 200)
	}
	a := s.post(t, locks+"Renew", `{"grants": [
		{"name": "a", "owner": "me", "ttl": "3600s"},
		{"name": "c", "owner": "mode", "ttl": "1s"},
		{"name": "d", "owner": "me"},
		{},
		{"name": "b", "owner": "me", "ttl": "3600s"}
	]}`)
	a.want(t, 200, "grants[1].owner: is reserved", "grants[2].ttl: is 0s", "grants[3].name: is empty")
	var states []string
	for _, renewal := range a.at("renewals").([]any) {
		states = append(states, renewal.(map[string]any)["state"].(string))
	}
	if got := strings.Join(states, " "); got != "renewed refused refused refused renewed" {
		t.Errorf("renewals are %s", got)
	}
	s.post(t, locks+"Renew", `{"grants": [{}]}`).want(t, 200, `"refused"`)
}
