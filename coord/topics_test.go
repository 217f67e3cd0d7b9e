package coord_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// TestAMessageIsRefusedWhenItsSubscribersHaveGone although it was accepted before.
func TestAMessageIsRefusedWhenItsSubscribersHaveGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("mail"))
		must(t, c.Subscribe(t.Context(), "orders", "mail"))
		m := msg.New("paid").Topic("orders")
		_, err := m.ID("m-1").Send(t.Context(), c, 1)
		must(t, err)
		must(t, c.Unsubscribe(t.Context(), "orders", "mail"))
		if _, err := m.ID("m-1").Send(t.Context(), c, 1); err != nil {
			t.Errorf("sent again: %v", err)
		}
		for id, payload := range map[string]int{"m-1": 2, "m-2": 1} {
			if _, err := m.ID(id).Send(t.Context(), c, payload); err == nil {
				t.Errorf("%s with %d, never sent before, is accepted without subscribers", id, payload)
			}
		}
	})
}

// TestALongTopicCannotBeSentTo although it can be subscribed to.
func TestALongTopicCannotBeSentTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("mail"))
		first, second := strings.Repeat("a", 119)+"1", strings.Repeat("a", 119)+"2"
		must(t, c.Subscribe(t.Context(), first, "mail"))
		must(t, c.Subscribe(t.Context(), second, "mail"))
		_, err := msg.New("x").Topic(first).Topic(second).Send(t.Context(), c, 1)
		must(t, err)
	})
}
