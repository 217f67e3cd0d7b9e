package nearest_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/nearest"
)

func TestASlipIsUnderstoodAndMoreIsNot(t *testing.T) {
	names := []string{"submit", "show", "store", "server"}
	for typed, want := range map[string]string{
		"submt": "submit", "sumbit": "submit", "shw": "show", "stor": "store", "servers": "server",
		"": "", "x": "", "nonsense": "", "ß": "",
	} {
		if got := nearest.To(typed, names); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
