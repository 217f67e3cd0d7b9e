package nearest_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/nearest"
)

func TestASlipIsUnderstoodAndMoreIsNot(t *testing.T) {
	names := []string{"submit", "show", "store", "server", "msg"}
	for typed, want := range map[string]string{
		"submt": "submit", "sumbit": "submit", "shw": "show", "stor": "store", "servers": "server",
		"hsow": "show", "": "", "x": "", "nonsense": "", "ß": "", "wosh": "",
		"SUBMIT": "submit", "Shw": "show", "storage": "store", "STORAGE": "store", "message": "msg",
		"Message": "msg", "mass": "", "gsm messages": "",
	} {
		if got := nearest.To(typed, names); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestAFieldThatIsNotThere(t *testing.T) {
	known := []string{"id", "action"}
	for name, want := range map[string]string{
		"acton": "unknown field (did you mean action?); want id, action",
		"try":   "unknown field; want id, action",
	} {
		if got := nearest.UnknownField(name, known); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
