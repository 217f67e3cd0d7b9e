package apiwire_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// TestGrantsLoseTheirTokensOnTheWay: who stands takes a grant by them for its own, and asks where there are none.
func TestGrantsLoseTheirTokensOnTheWay(t *testing.T) {
	for _, want := range []lockdriver.Grant{
		{Name: "a", Owner: "me:1", Token: 1 << 60, Tokens: lockdriver.MaxTokens, TTL: time.Minute},
		{Name: "a", Owner: "me:1"},
		{Name: "a"},
	} {
		text, err := proto.Marshal(apiwire.Passed(want))
		if err != nil {
			t.Fatal(err)
		}
		arrived := &bedrockv1.AttendResponse{}
		if err := proto.Unmarshal(text, arrived); err != nil {
			t.Fatal(err)
		}
		if got, known := apiwire.PassedOf(arrived); got != want || !known {
			t.Errorf("got %+v, %t; want %+v", got, known, want)
		}
		if m, known := apiwire.MessageOf(arrived); known {
			t.Errorf("it is taken for a message, too: %+v", m)
		}
	}
}

// TestMessagesAreTakenForGrants, and what a newer server may tell of.
func TestMessagesAreTakenForGrants(t *testing.T) {
	asked := lockdriver.Message{
		Name: "a", Owner: "me:1", Kind: lockdriver.Asked, Plea: lockdriver.Plea{Reason: "r", Within: time.Second},
	}
	for _, sent := range []*bedrockv1.AttendResponse{
		{},
		{Kind: "sung", Name: "a", Owner: "me:1"},
		{Kind: "granted", Name: "a"}, // to nobody
		apiwire.Message(asked),
		apiwire.Message(lockdriver.Message{Name: "a", Owner: "me:1", Kind: lockdriver.Taken}),
		apiwire.Message(lockdriver.Message{Kind: lockdriver.Missed}),
	} {
		if g, known := apiwire.PassedOf(sent); known {
			t.Errorf("%v is taken for %+v", sent, g)
		}
	}
	if got, known := apiwire.MessageOf(apiwire.Message(asked)); got != asked || !known {
		t.Errorf("got %+v, %t", got, known)
	}
}

// TestReasonsAreLostOnTheWay: a grant that has ended was not taken away by force.
func TestReasonsAreLostOnTheWay(t *testing.T) {
	gone := lockdriver.Message{Name: "a", Owner: "me:1", Kind: lockdriver.Taken}
	for why, want := range map[string]string{
		"its connection has ended":     "its connection has ended",
		strings.Repeat("é", 200):       strings.Repeat("é", 128),
		"x" + strings.Repeat("é", 200): "x" + strings.Repeat("é", 127),
		"\xff":                         "?",
		"it is away\nand gone":         "it is away and gone",
	} {
		gone.Why = errors.New(why)
		text, err := proto.Marshal(apiwire.Message(gone))
		if err != nil {
			t.Fatal(err)
		}
		arrived := &bedrockv1.AttendResponse{}
		if err := proto.Unmarshal(text, arrived); err != nil {
			t.Fatal(err)
		}
		if got, _ := apiwire.MessageOf(arrived); got.Why == nil || got.Why.Error() != want {
			t.Errorf("%q was sent, and %v has come", why, got.Why)
		}
	}
	gone.Why = nil
	if got, known := apiwire.MessageOf(apiwire.Message(gone)); got != gone || !known {
		t.Errorf("by force: got %+v, %t", got, known)
	}
}
