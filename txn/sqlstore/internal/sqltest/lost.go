package sqltest

import (
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// LostAnswer loses what the server answers to a batch that has arrived. It may be
// written, so nobody may say that it is not. The subject's stores connect to the
// proxy.
func LostAnswer(t *testing.T, s Subject, proxy *chaos.Proxy) {
	store := s.Store(t, &sqlstore.Options{Table: "lost", Writers: 1})
	for _, id := range []string{"a", "b"} { // so that nothing is left to prepare
		if err := store.Create(t.Context(), dueRecord(id)); err != nil {
			t.Fatal(err)
		}
	}
	proxy.DropReplies(1)
	err := store.Create(t.Context(), dueRecord("c"))
	if err == nil || errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("answer lost: %v", err)
	}
	if n := proxy.Evidence().RepliesLost; n != 1 {
		t.Errorf("%d answers were lost", n)
	}
}
