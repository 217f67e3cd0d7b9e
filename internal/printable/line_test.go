package printable_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/internal/printable"
)

func TestLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"  out of stock\r\n", "out of stock"},
		{"a\x00b\x1b[31mc\u202ed\u2028e", "ab[31mcde"},
		{"level=INFO\nlevel=ERROR", "level=INFO level=ERROR"},
		{"caf\xc3", "caf"},
		{" \x00\u202e\r\n", ""},
		{strings.Repeat("ä", 200), strings.Repeat("ä", 128)},
		{"x" + strings.Repeat("ä", 200), "x" + strings.Repeat("ä", 127)},
		{strings.Repeat("a", 1<<20), strings.Repeat("a", 256)},
		{strings.Repeat("a", 255) + " b", strings.Repeat("a", 255)},
		{strings.Repeat("\x00 \u202e\n", 1000) + "out of stock", "out of stock"},
	} {
		if got := printable.Line(c.text, 256); got != c.want {
			t.Errorf("%.20q: %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\nb\xff\u202e", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 0), 1000)
		got := printable.Line(text, most)
		if len(got) > most || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00\x1b") {
			t.Errorf("%q", got)
		}
		if again := printable.Line(got, most); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	})
}
