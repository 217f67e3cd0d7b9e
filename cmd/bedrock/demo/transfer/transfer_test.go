package transfer_test

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/cmd/bedrock/demo/transfer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestThePromisesAreKept(t *testing.T) {
	var out bytes.Buffer
	if err := transfer.Run(t.Context(), &out); err != nil {
		t.Fatal(err, out.String())
	}
	story := out.String()
	for _, want := range []string{
		"REFUSES: carl", "gives back 30 (ann)", "the coordinator is stopped", "Ann has 40, Ben has 160",
	} {
		if !strings.Contains(story, want) {
			t.Errorf("the story lacks %q:\n%s", want, story)
		}
	}
	if yes := strings.Count(story, "\n  yes  "); yes != 5 || strings.Contains(story, "NO!") {
		t.Errorf("%d promises kept, want 5:\n%s", yes, story)
	}
}
