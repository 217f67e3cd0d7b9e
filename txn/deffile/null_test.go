package deffile_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/deffile"
)

// TestNullIsNoText: a header of null was sent to every participant as the word null.
func TestNullIsNoText(t *testing.T) {
	for name, text := range map[string]string{
		"order.json": `{"mode": "saga", "headers": {"x-tenant": null}, "steps": [{"id": "a", "action": "pay"}]}`,
		"order.yaml": "mode: saga\nheaders:\n  x-tenant: null\nsteps:\n  - {id: a, action: pay}\n",
		"tilde.yaml": "mode: saga\nheaders:\n  x-tenant: ~\nsteps:\n  - {id: a, action: pay}\n",
	} {
		d, err := deffile.Parse(name, []byte(text))
		if value, ok := d.Headers["x-tenant"]; ok || err != nil {
			t.Errorf("%s: x-tenant: %q %v", name, value, err)
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
