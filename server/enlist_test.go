package server_test

import (
	"fmt"
	"testing"
)

// TestWhatJoinsIsRefusedInOtherWords than those of the request.
func TestWhatJoinsIsRefusedInOtherWords(t *testing.T) {
	s := serve(t, config(t), nil)
	for mode, test := range map[string]struct{ begin, parts, want string }{
		"tcc": {"", `"branches": [{"id": "a", "try": "echo", "confirm": "echo"}]`, "branches[0].try"},
		"msg": {
			`, "check": {"target": "echo"}, "deliver": [{"id": "first", "to": "echo"}]`,
			`"deliver": [{"id": "a", "to": "a b"}]`, "deliver[0].to",
		},
	} {
		begin := fmt.Sprintf(`{"definition": {"id": "%s", "mode": "%[1]s"%s}}`, mode, test.begin)
		s.post(t, transactions+"Begin", begin).want(t, 200, "")
		s.post(t, transactions+"Enlist", fmt.Sprintf(`{"id": "%s", %s}`, mode, test.parts)).want(t, 400, test.want)
	}
}

// TestAPayloadThatJoinsIsRounded: what comes with a branch of its own has the numbers it was sent with.
func TestAPayloadThatJoinsIsRounded(t *testing.T) {
	c := config(t)
	s := serve(t, c, nil)
	for mode, parts := range map[string]struct{ own, joins string }{
		"tcc": {"", `"branches": [{"id": "a", "confirm": "echo", "payload": {"n": 9007199254740993}}]`},
		"msg": {
			`, "check": {"target": "echo"}, "deliver": [{"id": "first", "to": "echo"}]`,
			`"deliver": [{"id": "a", "to": "echo", "payload": {"n": 9007199254740993}}]`,
		},
	} {
		begin := fmt.Sprintf(`{"definition": {"id": "%s", "mode": "%[1]s"%s}}`, mode, parts.own)
		s.post(t, transactions+"Begin", begin).want(t, 200, "")
		s.post(t, transactions+"Enlist", fmt.Sprintf(`{"id": "%s", %s}`, mode, parts.joins)).want(t, 200, "")
		tx, err := c.Inspector.Get(t.Context(), mode)
		if err != nil {
			t.Fatal(err)
		}
		i, _ := tx.Branch("a")
		if got := string(tx.Branches[i].Payload); got != `{"n":9007199254740993}` {
			t.Errorf("%s: %s", mode, got)
		}
	}
}

// TestWhatJoinsIsBlamedByItsNeighboursPlace: the answer counts what the request has, and not what was
// there before.
func TestWhatJoinsIsBlamedByItsNeighboursPlace(t *testing.T) {
	s := serve(t, config(t), nil)
	begin := `{"definition": {"id": "x", "mode": "tcc", "branches": [{"id": "old", "confirm": "echo"}]}}`
	s.post(t, transactions+"Begin", begin).want(t, 200)
	a := s.post(t, transactions+"Enlist", fmt.Sprintf(`{"id": "x", "branches": [%s, %s]}`,
		`{"id": "wrong", "confirm": "a b"}`, `{"id": "right", "confirm": "echo"}`))
	a.want(t, 400, `branches[0].confirm`)
}
