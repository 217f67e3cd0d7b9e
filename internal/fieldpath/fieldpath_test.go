package fieldpath_test

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/fieldpath"
)

func TestWhereAFieldIs(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, test := range []struct{ at, name, want string }{
		{"", "timeout", "timeout"},
		{"steps[1]", "action", "steps[1].action"},
		{"steps[1].policy", "max_Backoff-2", "steps[1].policy.max_Backoff-2"},
		{"", "a b", `["a b"]`},
		{"headers", "x.y", `headers["x.y"]`},
		{"steps[0]", "", `steps[0][""]`},
		{"a", "\x1b[31m\n", `a["\x1b[31m\n"]`},
		{"a", long, `a["` + long[:60] + `…"]`},
		{"a", strings.Repeat("ü", 31), `a["` + strings.Repeat("ü", 30) + `…"]`},
		{"a", strings.Repeat("ü", 29) + "abü", `a["` + strings.Repeat("ü", 29) + `ab…"]`},
		{"a", "b\xff", `a["b"]`},
	} {
		if got := fieldpath.Inside(test.at, test.name); got != test.want {
			t.Errorf("%s, %q: %s, want %s", test.at, test.name, got, test.want)
		}
	}
	if got := fieldpath.Item("steps", 12); got != "steps[12]" {
		t.Error(got)
	}
}
