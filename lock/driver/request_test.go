package driver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

func sound() driver.Request {
	return driver.Request{Name: "a", Owner: "o", TTL: time.Second, Tokens: 1}
}

// TestWhatNobodyMayAskForIsNamed: the field and the limit, whoever asks, of whatever store.
func TestWhatNobodyMayAskForIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil        func(r *driver.Request)
		field, limit string
	}{
		"no name":           {func(r *driver.Request) { r.Name = "" }, "name", "empty"},
		"long name":         {func(r *driver.Request) { r.Name = strings.Repeat("n", 513) }, "name", "512"},
		"control character": {func(r *driver.Request) { r.Name = "a\nb" }, "name", "control character at byte 1"},
		"C1 control":        {func(r *driver.Request) { r.Name = "a\u0085" }, "name", "control character"},
		"name in bytes":     {func(r *driver.Request) { r.Name = "a\xff" }, "name", "UTF-8"},
		"no owner":          {func(r *driver.Request) { r.Owner = "" }, "owner", "empty"},
		"long owner":        {func(r *driver.Request) { r.Owner = strings.Repeat("o", 129) }, "owner", "128"},
		"reserved owner":    {func(r *driver.Request) { r.Owner = "bedrock:meta" }, "owner", "reserved"},
		"a field's name":    {func(r *driver.Request) { r.Owner = "mode" }, "owner", "reserved"},
		"unknown mode":      {func(r *driver.Request) { r.Mode = driver.Permit + 1 }, "mode", "permit"},
		"permits of a mutex": {
			func(r *driver.Request) { r.Permits = 1 }, "permits", "exclusive",
		},
		"limit of readers": {
			func(r *driver.Request) { r.Mode, r.Limit = driver.Shared, 1 }, "limit", "shared",
		},
		"no limit": {
			func(r *driver.Request) { r.Mode, r.Permits = driver.Permit, 1 }, "limit", "1048576",
		},
		"high limit": {
			func(r *driver.Request) { r.Mode, r.Permits, r.Limit = driver.Permit, 1, driver.MaxPermits+1 }, "limit",
			"1048576",
		},
		"no permits": {
			func(r *driver.Request) { r.Mode, r.Limit = driver.Permit, 3 }, "permits", "1 to 3",
		},
		"more than there are": {
			func(r *driver.Request) { r.Mode, r.Permits, r.Limit = driver.Permit, 4, 3 }, "permits", "1 to 3",
		},
		"short TTL":     {func(r *driver.Request) { r.TTL = driver.MinTTL - 1 }, "ttl", "10ms"},
		"long TTL":      {func(r *driver.Request) { r.TTL = driver.MaxTTL + 1 }, "ttl", "24h"},
		"no tokens":     {func(r *driver.Request) { r.Tokens = 0 }, "tokens", "1 to 65536"},
		"many tokens":   {func(r *driver.Request) { r.Tokens = driver.MaxTokens + 1 }, "tokens", "65536"},
		"much metadata": {func(r *driver.Request) { r.Meta = strings.Repeat("x", 4097) }, "meta", "4096"},
		"odd metadata":  {func(r *driver.Request) { r.Meta = "\xff" }, "meta", "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			tc.spoil(&r)
			wrong, ok := errors.AsType[*input.Error](r.Check())
			if !ok || wrong.Field != tc.field || !strings.Contains(wrong.Problem, tc.limit) {
				t.Errorf("got %v, want what is wrong with %s, and %q", r.Check(), tc.field, tc.limit)
			}
			if refused := driver.Refused(r.Check()); !errors.Is(refused, driver.ErrRefused) ||
				!errors.Is(refused, input.ErrInvalid) {
				t.Errorf("as a refusal it is %v", refused)
			}
		})
	}
}

func TestWhatTheLimitsAllowIsAccepted(t *testing.T) {
	for name, change := range map[string]func(r *driver.Request){
		"plain":      func(*driver.Request) {},
		"long texts": func(r *driver.Request) { r.Name, r.Owner = strings.Repeat("n", 512), strings.Repeat("o", 128) },
		"any script": func(r *driver.Request) { r.Name, r.Owner = "🔒\u202e", "замок:1" },
		"shared":     func(r *driver.Request) { r.Mode, r.Upgradeable = driver.Shared, true },
		"fair":       func(r *driver.Request) { r.Fair, r.Waits = true, true },
		"all permits": func(r *driver.Request) {
			r.Mode, r.Permits, r.Limit = driver.Permit, driver.MaxPermits, driver.MaxPermits
		},
		"short":    func(r *driver.Request) { r.TTL = driver.MinTTL },
		"long":     func(r *driver.Request) { r.TTL, r.Tokens = driver.MaxTTL, driver.MaxTokens },
		"metadata": func(r *driver.Request) { r.Meta = strings.Repeat("x", 4096) },
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			change(&r)
			if err := r.Check(); err != nil || driver.Refused(err) != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func TestRenewalsMayBeShorterThanLeases(t *testing.T) {
	g := driver.Grant{Name: "a", Owner: "o"}
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	for rest, want := range map[time.Duration]bool{
		0: false, driver.MinRest: true, driver.MinTTL - 1: true, driver.MaxTTL: true, driver.MaxTTL + 1: false,
	} {
		if err := driver.CheckRest(rest); (err == nil) != want {
			t.Errorf("for %s: %v", rest, err)
		}
	}
	for _, g := range []driver.Grant{{Owner: "o"}, {Name: "a"}, {Name: "a", Owner: "mode"}} {
		if !errors.Is(g.Check(), input.ErrInvalid) {
			t.Errorf("%+v is a grant", g)
		}
	}
}

func TestModesHaveNames(t *testing.T) {
	for m := range driver.Permit + 1 {
		if got, err := driver.ParseMode(m.String()); got != m || err != nil {
			t.Errorf("%s is read as %s, error %v", m, got, err)
		}
	}
	if got, err := driver.ParseMode(""); got != driver.Exclusive || err != nil {
		t.Errorf("nothing is read as %s, error %v", got, err)
	}
	for _, text := range []string{"Shared", "mode 4", "wrote"} {
		if _, err := driver.ParseMode(text); !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%q is a mode, error %v", text, err)
		}
	}
}

// TestOnlyExclusiveMeansOnlyExclusive: a backend that lacks the rest says so.
func TestOnlyExclusiveMeansOnlyExclusive(t *testing.T) {
	plain, fair, shared, permit := sound(), sound(), sound(), sound()
	fair.Fair, shared.Mode = true, driver.Shared
	permit.Mode, permit.Permits, permit.Limit = driver.Permit, 1, 1
	above, aged := sound(), sound()
	above.Above, aged.Age = 1, time.Nanosecond
	if err := plain.CheckExclusive(); err != nil {
		t.Error(err)
	}
	for _, r := range []driver.Request{fair, shared, permit, above, aged} {
		if err := r.CheckExclusive(); !errors.Is(err, driver.ErrUnsupported) || !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// TestUnsupportedIsARefusal: it reads as what it is, and counts as what it is, too.
func TestUnsupportedIsARefusal(t *testing.T) {
	if driver.ErrUnsupported.Error() != "unsupported" || !errors.Is(driver.ErrUnsupported, driver.ErrRefused) {
		t.Errorf("%q, which is %v", driver.ErrUnsupported, errors.Unwrap(driver.ErrUnsupported))
	}
	if errors.Is(driver.ErrRefused, driver.ErrUnsupported) {
		t.Error("every refusal is for lack of a capability")
	}
}
