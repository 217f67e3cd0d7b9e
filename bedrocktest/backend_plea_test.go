package bedrocktest_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestAPleaIsLostWithItsReply: who has the lock has heard it.
func TestAPleaIsLostWithItsReply(t *testing.T) {
	b := bedrocktest.NewBackend(memlock.NewBackend(nil))
	told := make(chan driver.Message, 1)
	stop, err := b.Attend(t.Context(), "a", func(m driver.Message) { told <- m })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	req := request("a:1")
	if _, err := b.Acquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	b.LoseReply(bedrocktest.Plead)
	_, err = b.Plead(t.Context(), req.Name, driver.Plea{Reason: "r"})
	wantErr(t, err, bedrocktest.ErrReplyLost)
	want := driver.Message{Name: req.Name, Owner: "a:1", Kind: driver.Asked, Plea: driver.Plea{Reason: "r"}}
	if m := <-told; m != want {
		t.Errorf("told of %+v", m)
	}
}
