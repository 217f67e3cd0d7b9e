package tcc_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

func TestBuilder(t *testing.T) {
	hotel := tcc.New("hotel").Branch("room", "f", "g", "h").Branch("meal", "f", "g", "h").After("room").Use("room",
		"room.id")
	got, err := tcc.New("trip").
		Branch("flight", "flight.try", "flight.confirm", "flight.cancel").Payload(1).Policy(txn.Policy{Attempts: 2}).
		Compensating("points", "points.add", "points.remove").After("flight").Use("seat", "flight.seat").
		Assured("mail", "mail.send").
		Nested("hotel", hotel).After("flight").
		Timeout(time.Minute).Parallel(3).Header("tenant", "7").ID("trip-1").
		Definition(map[string]int{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	want := txn.Definition{
		ID: "trip-1", Mode: "tcc", Name: "trip", Payload: []byte(`{"n":1}`), Timeout: time.Minute, Parallel: 3,
		Headers: map[string]string{"tenant": "7"},
		Branches: []txn.Branch{
			{
				ID: "flight", Do: "flight.try", Confirm: "flight.confirm", Undo: "flight.cancel",
				Payload: []byte("1"), Policy: &txn.Policy{Attempts: 2},
			},
			{
				ID: "points", Do: "points.add", Undo: "points.remove", After: []string{"flight"},
				Use: map[string]string{"seat": "flight.seat"},
			},
			{ID: "mail", Confirm: "async:mail.send"},
			{ID: "hotel/room", Do: "f", Confirm: "g", Undo: "h", After: []string{"flight"}},
			{
				ID: "hotel/meal", Do: "f", Confirm: "g", Undo: "h", After: []string{"hotel/room"},
				Use: map[string]string{"room": "hotel/room.id"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakes(t *testing.T) {
	tests := map[string]struct {
		tcc  *tcc.TCC
		want string
	}{
		"After first": {tcc.New("").After("a"), "after: comes before"},
		"payload":     {tcc.New("").Branch("a", "f", "g", "h").Payload(math.NaN()), "branches[0].payload: json"},
		"none":        {tcc.New("").Nested("n", nil), "nested n: is nil"},
		"empty":       {tcc.New("").Nested("n", tcc.New("")), "branches: nested n is empty"},
		"nested timeout": {
			tcc.New("").Nested("n", tcc.New("").Branch("a", "f", "g", "h").Timeout(1)), "nested n: timeout, parallel",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.tcc.Definition(nil)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if _, err := test.tcc.Submit(t.Context(), nil, nil); err == nil { // nil: would panic if it was used
				t.Error("submitted")
			}
			if _, err := test.tcc.Run(t.Context(), nil, nil); err == nil {
				t.Error("run")
			}
		})
	}
}
