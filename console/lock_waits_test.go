package console_test

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

const inCircle = "in a circle"

// TestCirclesAreMarked: of two, of one, and what only leads to a circle is in none.
func TestCirclesAreMarked(t *testing.T) {
	w := newTold(t,
		heldBy("a", "1", "b"), heldBy("b", "2", "a"), heldBy("own", "3", "own"),
		heldBy("leads", "4", "a"), heldBy("alone", "5"),
	)
	body := w.get(t, "/locks/waits", http.StatusOK)
	if n := strings.Count(body, inCircle); n != 3 {
		t.Errorf("%d locks are in a circle, want 3:\n%s", n, body)
	}
	if n := strings.Count(body, "Holders wait for one another"); n != 2 {
		t.Errorf("%d circles, want 2", n)
	}
	wants(t, body, "web/4 has leads and waits for a", "is held by web/1")
	lacks(t, body, "alone")
	wants(t, w.get(t, "/locks", http.StatusOK), "in 2 circles")
	wants(t, w.get(t, lockAt("a"), http.StatusOK), "Holders wait for one another")
	lacks(t, w.get(t, lockAt("leads"), http.StatusOK), "Holders wait for one another")
}

// TestACircleIsFollowedBeyondThePrefix since holders do not keep to one.
func TestACircleIsFollowedBeyondThePrefix(t *testing.T) {
	w := newTold(t, heldBy("orders/1", "1", "stock/1"), heldBy("stock/1", "2", "bank/1"),
		heldBy("bank/1", "3", "orders/1"))
	body := w.get(t, "/locks/waits?prefix=orders/", http.StatusOK)
	if n := strings.Count(body, inCircle); n != 3 {
		t.Errorf("%d locks are in a circle, want 3:\n%s", n, body)
	}
}

// TestPermitsMakeNoCircle: any holder may give some back.
func TestPermitsMakeNoCircle(t *testing.T) {
	slots := heldBy("slots", "1", "a")
	slots.Kind, slots.Limit, slots.Holders[0].Mode, slots.Holders[0].Permits = driver.Semaphore, 2, driver.Permit, 1
	w := newTold(t, slots, heldBy("a", "2", "slots"))
	body := w.get(t, "/locks/waits", http.StatusOK)
	lacks(t, body, inCircle, "Holders wait for one another")
	wants(t, body, "web/2 has a and waits for slots")
}

// TestManyWaitsAreBounded in the drawing, the list and the time they take, whatever holders say.
func TestManyWaitsAreBounded(t *testing.T) {
	var infos []lock.Info
	for i := range 500 {
		var waits []string
		for j := range 8 {
			waits = append(waits, fmt.Sprintf("lock-%03d", (i+j+1)%500))
		}
		infos = append(infos, heldBy(fmt.Sprintf("lock-%03d", i), "1", waits...))
	}
	body := newTold(t, infos...).get(t, "/locks/waits", http.StatusOK)
	wants(t, body, "more locks are not drawn", "more locks are not listed", "circles may be missing")
	if len(body) > 2<<20 {
		t.Errorf("the page has %d bytes", len(body))
	}
}

// TestWaitsThatNobodyCanHaveAreLeftOut, and whatever else a holder may write.
func TestWaitsThatNobodyCanHaveAreLeftOut(t *testing.T) {
	w := newTold(t, heldBy("a", "1", "", "\x00", strings.Repeat("x", 600), hostile))
	for _, path := range []string{"/locks", "/locks/waits", lockAt("a")} {
		body := w.get(t, path, http.StatusOK)
		wants(t, body, html.EscapeString(hostile)[:20])
		lacks(t, body, "<script>window", "\x00", strings.Repeat("x", 600))
	}
}

func TestNobodyWaits(t *testing.T) {
	w := newTold(t, heldBy("a", "1"))
	body := w.get(t, "/locks/waits", http.StatusOK)
	wants(t, body, "No holder says that it waits for another lock")
	lacks(t, body, "<svg class=\"timeline")
}
