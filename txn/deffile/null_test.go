package deffile_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/deffile"
)

// TestNullIsNoText: a header of null was sent to every participant as the word null, and one that a
// step takes over was left out of its call.
func TestNullIsNoText(t *testing.T) {
	const inHeaders, inUse = `headers["x-tenant"]: has no value`, `steps[1].use["room"]: has no value`
	for text, want := range map[string]string{
		`{"mode": "saga", "headers": {"x-tenant": null}, "steps": [{"id": "a", "action": "pay"}]}`: "f:1: " + inHeaders,
		"mode: saga\nheaders:\n  x-tenant: null\nsteps:\n  - {id: a, action: pay}\n":               "f:3: " + inHeaders,
		"mode: saga\nheaders:\n  x-tenant: ~\nsteps:\n  - {id: a, action: pay}\n":                  "f:3: " + inHeaders,
		"mode: saga\nsteps:\n- {id: a, action: pay}\n- id: b\n  action: pay\n  use:\n    room:\n":  "f:7: " + inUse,
		"mode: saga\nsteps:\n- {id: \"null\", action: pay}\n- {id: b, action: pay, after: [null]}\n": "f:4: " +
			"steps[1].after: has an entry without a value",
	} {
		if _, err := deffile.Parse("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestNullIsNotThereBesideOtherFieldsEither: a field of null was refused where another excludes it.
func TestNullIsNotThereBesideOtherFieldsEither(t *testing.T) {
	for _, text := range []string{
		`{"mode": "msg", "deliver": [{"id": "a", "to": "mail", "topic": null}]}`,
		`{"mode": "tcc", "branches": [{"id": "a", "try": "t", "confirm": "c", "cancel": "x", "assured": null}]}`,
		`{"mode": "saga", "steps": [{"id": "a", "action": "pay", "steps": null}]}`,
	} {
		if _, err := deffile.Parse("order.json", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
