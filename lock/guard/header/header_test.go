package header_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
)

func TestATicketSurvivesItsHeaders(t *testing.T) {
	for _, ticket := range []guard.Ticket{
		{Name: "orders/42", Token: 1},
		{Name: " a ", Token: driver.MaxToken},
		{Name: "100%", Token: 7},
		{Name: "%41+%", Token: 7},
		{Name: strings.Repeat("日", driver.MaxName/3), Token: 3},
		{Name: "ä,b;\"c", Token: 3},
	} {
		h := http.Header{}
		header.Write(ticket, h.Set)
		for _, c := range []byte(h.Get(header.Name)) {
			if c <= ' ' || c > '~' {
				t.Errorf("%q has bytes that do not pass everywhere", h.Get(header.Name))
			}
		}
		got, ok, err := header.Parse(h.Values)
		if got != ticket || !ok || err != nil || header.ParseStale(h.Values) != nil {
			t.Errorf("%+v became %+v, %v, %v", ticket, got, ok, err)
		}
		want := guard.StaleError{Name: ticket.Name, Token: ticket.Token, Newest: driver.MaxToken}
		header.WriteStale(&want, h.Set)
		if stale := header.ParseStale(h.Values); stale == nil || *stale != want {
			t.Errorf("%+v became %+v", want, stale)
		}
	}
}

// TestHeadersAreThoseOfTheContract: other languages write them.
func TestHeadersAreThoseOfTheContract(t *testing.T) {
	h := http.Header{}
	header.WriteStale(&guard.StaleError{Name: "a b/ü%", Token: 33, Newest: 34}, h.Set)
	for name, want := range map[string]string{
		"Bedrock-Lock-Name": "a%20b/%C3%BC%25", "Bedrock-Lock-Token": "33", "Bedrock-Lock-Newest": "34",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWhatIsNoTicketIsRefused(t *testing.T) {
	if _, ok, err := header.Parse(http.Header{}.Values); ok || err != nil {
		t.Error("none at all", ok, err)
	}
	for _, h := range []http.Header{
		{header.Name: {"a"}},
		{header.Token: {"1"}},
		{header.Name: {"a", "b"}, header.Token: {"1"}},
		{header.Name: {"a"}, header.Token: {"1", "2"}},
		{header.Name: {"a"}, header.Token: {"0"}},
		{header.Name: {"a"}, header.Token: {"-1"}},
		{header.Name: {"a"}, header.Token: {"1e3"}},
		{header.Name: {"a"}, header.Token: {""}},
		{header.Name: {"a"}, header.Token: {"9223372036854775808"}},
		{header.Name: {"a"}, header.Token: {"99999999999999999999999"}},
		{header.Name: {""}, header.Token: {"1"}},
		{header.Name: {"%"}, header.Token: {"1"}},
		{header.Name: {"%00"}, header.Token: {"1"}},
		{header.Name: {"%FF"}, header.Token: {"1"}},
		{header.Name: {strings.Repeat("x", driver.MaxName+1)}, header.Token: {"1"}},
	} {
		if ticket, ok, err := header.Parse(h.Values); ok || !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%v: %+v, %v, %v", h, ticket, ok, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("orders/42", "7")
	f.Add("%C3%A4%25", "9000000000000000")
	f.Fuzz(func(t *testing.T, name, token string) {
		values := map[string][]string{header.Name: {name}, header.Token: {token}}
		ticket, ok, err := header.Parse(func(name string) []string { return values[name] })
		if err != nil || !ok {
			return
		}
		h := http.Header{}
		header.Write(ticket, h.Set)
		if again, _, err := header.Parse(h.Values); again != ticket || err != nil {
			t.Errorf("%+v became %+v, %v", ticket, again, err)
		}
	})
}
