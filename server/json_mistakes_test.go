package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// Fields there are.
const (
	sagaFields   = "want mode, name, id, timeout, parallel, headers, payload, payloadBytes, recovery, steps"
	stepFields   = "want id, action, compensate, after, use, payload, payloadBytes, policy, steps"
	submitFields = "want definition, wait, waitFor"
)

// TestMistakesInARequest: each is told with its field, however deep that is, and as a detail
// for programs, in the words of the request.
func TestMistakesInARequest(t *testing.T) {
	s := serve(t, config(t), nil)
	saga := func(fields string) string { return `{"definition": {"mode": "saga", ` + fields + `}}` }
	const fine = `{"id": "a", "action": "echo", "compensate": "undo"}`
	for name, tc := range map[string]struct{ path, body, want string }{
		"empty":   {"Submit", " \n", "body: is empty; want a JSON object, {} at least"},
		"cut off": {"Submit", "{\n\"wait\": ", "body: syntax error in line 2: unexpected end of JSON input"},
		"more": {
			"Get", `{"id": "a"} x`, "body: syntax error in line 1: invalid character 'x' after top-level value",
		},
		"a list":    {"Submit", `[]`, "body: want an object with fields"},
		"a text":    {"Get", `"a"`, "body: want an object with fields"},
		"not UTF-8": {"Get", "{\"id\": \"\xff\"}", "body: is not UTF-8"},
		"duration":  {"Wait", `{"id": "a", "waitFor": "5"}`, `waitFor: "5": want a duration such as 30s or 1m30s`},
		"other way to write it": {
			"Wait", `{"id": "a", "wait_for": 5}`, `wait_for: 5: want a duration such as 30s or 1m30s`,
		},
		"duration beside a definition": {
			"Submit", `{"definition": {"mode": "saga", "steps": [` + fine + `]}, "waitFor": "1 min"}`,
			`waitFor: "1 min": want a duration such as 30s or 1m30s`,
		},
		"beside a duration with units": {
			"Submit", `{"wait_for": "1m", "wiat": true}`, "wiat: unknown field (did you mean wait?); " + submitFields,
		},
		"a negative duration with units": {"Wait", `{"id": "a", "wait_for": "-1m"}`, "wait_for: -1m0s is negative"},
		"truth":                          {"Submit", `{"wait": "yes"}`, `wait: "yes": want true or false`},
		"number":                         {"List", `{"limit": 1.5}`, "limit: 1.5: want a whole number"},
		"time": {
			"List", `{"finishedBefore": "today"}`, `finishedBefore: "today": want a time such as 2026-11-23T08:30:00Z`,
		},
		"text":         {"Get", `{"id": [7]}`, "id: want text"},
		"list":         {"List", `{"status": "open"}`, "status: want a list"},
		"list of text": {"List", `{"status": ["open", 7]}`, "status[1]: 7: want text"},
		"unknown":      {"Submit", `{"wiat": true}`, "wiat: unknown field (did you mean wait?); " + submitFields},
		"another unknown": {
			"Submit", `{"definitions": {}, "waitFor": 1}`,
			"definitions: unknown field (did you mean definition?); " + submitFields +
				"; waitFor: 1: want a duration such as 30s or 1m30s",
		},
		"twice":               {"Get", `{"id": "a", "id": "b"}`, "id: is there twice"},
		"twice, in both ways": {"Wait", `{"waitFor": "1s", "wait_for": "1s"}`, "wait_for: is there twice"},
		"two definitions":     {"Submit", `{"definition": {}, "definition": {}}`, "definition: is there twice"},
		"definition of a list": {
			"Submit", `{"definition": [1]}`, "definition: want fields with values, such as mode: saga",
		},
		"definition of nothing": {"Submit", `{"definition": null}`, "definition: is missing"},
		"no mode": {
			"Submit", `{"definition": {"mode": null}}`, "mode: is missing; want one of saga, tcc, msg",
		},
		"begun, and nothing in it": {
			"Begin", `{"definition": {"mode": "saga"}}`, "mode: saga cannot be begun and completed later; submit it",
		},
		"mode in full": {
			"Begin", `{"definition": {"mode": "message"}}`,
			`mode: "message" is not known (did you mean msg?); want one of saga, tcc, msg`,
		},
		"misspelt": {
			"Submit", saga(`"timout": "1m"`), "timout: unknown field (did you mean timeout?); " + sagaFields,
		},
		"of another mode": {
			"Submit", saga(`"deliver": []`), "deliver: has no meaning in mode saga; " + sagaFields,
		},
		"misspelt in a step": {
			"Submit", saga(`"steps": [` + fine + `, {"id": "b", "action": "echo", "compensat": "undo"}]`),
			"steps[1].compensat: unknown field (did you mean compensate?); " + stepFields,
		},
		"misspelt deep inside": {
			"Submit", saga(`"steps": [{"id": "a", "steps": [` + fine + `, {"id": "c", "policy": {"atempts": 1}}]}]`),
			"steps[0].steps[1].policy.atempts: unknown field (did you mean attempts?); " +
				"want timeout, backoff, maxBackoff, attempts, then, hook",
		},
		"several": {
			"Submit", saga(`"timeout": 5, "steps": [{"action": "echo"}, {"id": "b", "action": [7]}], "parallel": "x"`),
			`steps[0].id: is missing; want 1 to 64 letters, digits and _ - /; steps[1].action: want text; ` +
				`timeout: "5": want a duration such as 30s or 1m30s; parallel: "x": want a whole number`,
		},
		"a number for a step": {"Submit", saga(`"steps": [7]`), "steps[0]: want fields with values"},
		"too long": {
			"Submit", saga(`"timeout": "99999999999h", "steps": [` + fine + `]`),
			"timeout: over 292 years: want 0 (none) or 1ms to 8784h0m0s",
		},
		"too many attempts": {
			"Submit", saga(`"steps": [{"id": "a", "action": "echo", "policy": {"attempts": 99999999999999999999}}]`),
			"steps[0].policy.attempts: 2147483647 or more: want 0 (no limit) to 1000000000",
		},
		"two targets": {
			"Submit", saga(`"steps": [{"id": "a", "action": "ecko", "compensate": "ftp://x"}]`),
			`steps[0].compensate: this coordinator does not call ftp targets; it calls functions only; ` +
				`steps[0].action: no function "ecko" is registered; did you mean "echo"?`,
		},
		"both kinds of parts": {
			"Enlist", `{"id": "x", "branches": [], "deliver": []}`, "body: want branches, or deliver",
		},
		"no parts": {"Enlist", `{"id": "x"}`, "body: want branches, or deliver"},
		"an empty list of parts": {
			"Enlist", `{"id": "x", "branches": []}`, "body: want branches, or deliver, and something in them",
		},
		"a part without a name": {
			"Enlist", `{"id": "x", "branches": [{"id": "", "confirm": "echo"}]}`,
			`branches[0].id: "": want 1 to 64 letters, digits and _ - /`,
		},
		"a receiver without a name": {
			"Enlist", `{"id": "x", "deliver": [{"id": "", "to": "echo"}]}`,
			`deliver[0].id: "": want 1 to 64 letters, digits and _ - /`,
		},
		"parts of a saga": {
			"Enlist", `{"id": "x", "steps": []}`, "steps: cannot join a transaction; want id, branches, deliver",
		},
		"what joins": {
			"Enlist", `{"id": "x", "branches": [{"id": "a", "try": "t"}, ` +
				`{"id": "b", "try": "t", "confrm": "echo", "use": {"a": []}}]}`,
			"branches[1].confrm: unknown field (did you mean confirm?); want id, try, confirm, cancel, do, " +
				`compensate, assured, branches, after, use, payload, payloadBytes, policy; ` +
				`branches[1].use["a"]: want text`,
		},
		"two payloads": {
			"Enlist", `{"id": "x", "branches": [{"id": "a", "try": "t", "payload": 1, "payloadBytes": "AA=="}]}`,
			"branches[0].payload: want payload, or payloadBytes",
		},
		"bytes": {
			"Enlist", `{"id": "x", "branches": [{"id": "a", "try": "t", "payloadBytes": "?"}]}`,
			`branches[0].payloadBytes: want base64`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post(t, transactions+tc.path, tc.body)
			a.want(t, 400)
			if got, _ := a.at("message").(string); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if got := a.details(); got != tc.want {
				t.Errorf("got  %s in the details\nwant %s", got, tc.want)
			}
		})
	}
}

// details are the mistakes that an answer tells programs.
func (a answer) details() string {
	var told []string
	all, _ := a.at("details").([]any)
	for _, one := range all {
		problem := one.(map[string]any)["debug"].(map[string]any)
		if problem["kind"] != "field" {
			told = append(told, fmt.Sprint("kind ", problem["kind"]))
		}
		told = append(told, fmt.Sprintf("%v: %v", problem["field"], problem["reason"]))
	}
	return strings.Join(told, "; ")
}

// TestAMistakeInTheRequestForAStream is told as in any other.
func TestAMistakeInTheRequestForAStream(t *testing.T) {
	s := serve(t, config(t), nil)
	body := `{"idd": "x"}`
	a := s.send(t, http.DefaultClient, http.MethodPost, transactions+"Watch",
		string([]byte{0, 0, 0, 0, byte(len(body))})+body, "Content-Type", "application/connect+json")
	const want = `"message":"idd: unknown field (did you mean id?); want id"`
	if !strings.Contains(a.body, want) || !strings.Contains(a.body, `"field":"idd"`) {
		t.Errorf("answer %q: want %s", a.body, want)
	}
}

// TestAMistakeIsForgedInProtobuf: what is unknown there means nothing.
func TestAMistakeIsForgedInProtobuf(t *testing.T) {
	s := serve(t, config(t), nil)
	c := bedrockv1connect.NewTransactionServiceClient(http.DefaultClient, s.url)
	defer http.DefaultClient.CloseIdleConnections()
	req := &bedrockv1.ListRequest{}
	req.ProtoReflect().SetUnknown([]byte{0xfa, 0xff, 0xff, 0xff, 0xf, 2, 'h', 'i'})
	if _, err := c.List(t.Context(), req); err != nil {
		t.Error(err)
	}
}

// TestManyMistakesMakeAShortAnswer: as many are told as fit, and in whole.
func TestManyMistakesMakeAShortAnswer(t *testing.T) {
	s := serve(t, config(t), nil)
	step := `{"id": "a", "` + strings.Repeat(`é\u001b`, 500) + `": 1},`
	a := s.post(t, transactions+"Submit",
		`{"definition": {"mode": "saga", "steps": [`+strings.Repeat(step, 500)+`{}]}}`)
	a.want(t, 400, "steps[0]")
	if len(a.body) > 2000 || bytes.ContainsRune([]byte(a.body), 0x1b) {
		t.Errorf("%d bytes: %s", len(a.body), a.body)
	}
	if got, _ := a.at("message").(string); got != a.details() || !strings.HasSuffix(got, "policy, steps") {
		t.Errorf("message %s, and details %s", got, a.details())
	}
}
