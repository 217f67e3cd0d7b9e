package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
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

// TestPartsOfTwoModesJoin: no transaction has both, and which of them is wrong could not be told by
// its place. In JSON they are refused as what a file must not have.
func TestPartsOfTwoModesJoin(t *testing.T) {
	o := config(t)
	s := serve(t, o, nil)
	c := bedrockv1connect.NewTransactionServiceClient(http.DefaultClient, s.url)
	defer http.DefaultClient.CloseIdleConnections()
	s.post(t, transactions+"Begin", `{"definition": {"id": "x", "mode": "tcc"}}`).want(t, 200)
	_, err := c.Enlist(t.Context(), &bedrockv1.EnlistRequest{
		Id: "x", Branches: []*bedrockv1.Branch{{Id: "a", Confirm: "echo"}},
		Deliver: []*bedrockv1.Receiver{{Id: "b", To: "echo"}},
	})
	if err == nil || !strings.Contains(err.Error(), "deliver: is there beside branches") {
		t.Error(err)
	}
	if tx, err := o.Inspector.Get(t.Context(), "x"); err != nil || len(tx.Branches) != 0 {
		t.Errorf("there are %+v, %v", tx, err)
	}
}

// TestPartsOfAnotherModeJoin: they are refused in the words of the request.
func TestPartsOfAnotherModeJoin(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, transactions+"Begin", `{"definition": {"id": "m", "mode": "msg", "check": {"target": "echo"},
		"deliver": [{"id": "first", "to": "echo"}]}}`).want(t, 200)
	for _, word := range []string{"try", "cancel"} {
		s.post(t, transactions+"Enlist",
			fmt.Sprintf(`{"id": "m", "branches": [{"id": "a", "%s": "echo", "confirm": "echo"}]}`, word),
		).want(t, 400, "branches[0]."+word+": has no meaning in mode msg")
	}
}
