package server_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/server"
)

func TestTokenFileIsChecked(t *testing.T) {
	hash := server.HashToken("x")
	for text, part := range map[string]string{
		"":                            "there are none",
		"# nothing\n\n":               "there are none",
		"viewer a":                    "line 1: want role, name and hash",
		"\nroot a " + hash:            `line 2: "root" is no role`,
		"viewer a " + hash + " b":     "found 4 words",
		"viewer a secret":             "hash of a: want 64 hexadecimal digits",
		"viewer a " + hash[:63] + "g": "hash of a",
	} {
		if _, err := server.ParseTokens(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want %q", text, err, part)
		}
	}
	if _, err := server.ParseTokens(strings.NewReader("# c\nadmin a " + hash + " # b\n")); err != nil {
		t.Error(err)
	}
}

func TestTokensCannotBeGuessed(t *testing.T) {
	a, b := server.NewToken(), server.NewToken()
	if a == b || len(a) < 30 {
		t.Errorf("tokens %q and %q", a, b)
	}
}

func TestTakenOutTokenIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write(t, file, "viewer a "+server.HashToken("one")+"\nviewer b "+server.HashToken("two")+"\n")
	tokens, err := server.LoadTokens(file)
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Auth = tokens
	s := serve(t, c, nil)
	try := func(token string) int {
		return s.post(t, transactions+"List", `{}`, "Authorization", "Bearer "+token).status
	}
	if try("one") != 200 || try("two") != 200 {
		t.Fatal("a good token is refused")
	}
	write(t, file, "viewer a "+server.HashToken("one")+"\n")
	eventually(t, func() bool { return try("two") == 401 })
	write(t, file, "broken")
	eventually(t, func() bool { return try("one") == 200 })
	if _, err := server.LoadTokens(file); err == nil {
		t.Error("a broken file is accepted at the start")
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add("viewer a " + server.HashToken("x"))
	f.Add("# \x00\n\t")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = server.ParseTokens(strings.NewReader(text)) // must not panic
	})
}
