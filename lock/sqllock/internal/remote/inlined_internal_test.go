package remote

import (
	"strings"
	"testing"
)

// TestValueIsMoreThanOne: what is in a value never gets out of it.
func TestValueIsMoreThanOne(t *testing.T) {
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{"a?'\\", -1}, "_utf8mb4 X'613f275c', -1"},
		{[]any{"\xff", int64(1) << 62}, "X'ff', 4611686018427387904"},
		{[]any{"", 0}, "_utf8mb4 X'', 0"},
	} {
		got, err := inline("VALUES (?, ?)", c.args)
		if want := "VALUES (" + c.want + ")"; err != nil || got != want {
			t.Errorf("%q: %s, want %s: %v", c.args, got, want, err)
		}
	}
	for why, args := range map[string][]any{"few": {1}, "many": {1, 2, 3}, "float64": {1, 2.5}} {
		if got, err := inline("VALUES (?, ?)", args); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v: %q, %v", args, got, err)
		}
	}
}
