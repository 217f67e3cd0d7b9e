package auth_test

import (
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/server/auth"
)

func TestTokenFileIsChecked(t *testing.T) {
	hash := auth.HashToken("x")
	for text, part := range map[string]string{
		"":                            "there are none",
		"# nothing\n\n":               "there are none",
		"viewer a":                    "line 1: want role, name and hash",
		"\nroot a " + hash:            "line 2: the first word is no role",
		"viewer a " + hash + " b":     "found 4 words",
		"viewer a\u202eb " + hash:     "the second word is no name: it cannot be printed",
		"viewer a\x1b[31m " + hash:    "the second word is no name: it cannot be printed",
		"viewer a secret":             "the third word is no hash: want 64 hexadecimal digits",
		"viewer a " + hash[:63] + "g": "the third word is no hash",
	} {
		if _, err := auth.ParseTokens(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want %q", text, err, part)
		}
	}
	if _, err := auth.ParseTokens(strings.NewReader("# c\nadmin a " + hash + " # b\n")); err != nil {
		t.Error(err)
	}
}

func TestTokensCannotBeGuessed(t *testing.T) {
	a, b := auth.NewToken(), auth.NewToken()
	if a == b || len(a) < 30 {
		t.Errorf("tokens %q and %q", a, b)
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add("viewer a " + auth.HashToken("x"))
	f.Add("# \x00\n\t")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = auth.ParseTokens(strings.NewReader(text)) // must not panic
	})
}
