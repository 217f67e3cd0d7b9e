package auth

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens knows the clients of a server by their bearer tokens. It keeps hashes only. A nil
// *Tokens lets everybody do everything.
type Tokens struct {
	current func() []entry
}

// entry is one line of a token file.
type entry struct {
	role Role
	name string
	hash [sha256.Size]byte
}

// ParseTokens reads lines of role, name and hash of a token; # begins a comment.
// [HashToken] makes the hashes:
//
//	operator alice 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
func ParseTokens(r io.Reader) (*Tokens, error) {
	entries, err := parseTokens(r)
	if err != nil {
		return nil, err
	}
	return &Tokens{current: func() []entry { return entries }}, nil
}

// Tokens reads a token file, and reads it again when it changes: a token that was taken out
// is refused a second later, and its streams and waits end.
func (f *Files) Tokens(path string) (*Tokens, error) {
	file, err := reloading(f, func() ([]entry, error) {
		text, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("auth: tokens: %w", err)
		}
		defer text.Close()
		return parseTokens(text)
	}, path)
	if err != nil {
		return nil, err
	}
	return &Tokens{current: file.current}, nil
}

func parseTokens(r io.Reader) ([]entry, error) {
	var entries []entry
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		e, err := parseEntry(words)
		if err != nil {
			return nil, fmt.Errorf("auth: tokens: line %d: %w", n, err)
		}
		entries = append(entries, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("auth: tokens: %w", err)
	}
	if len(entries) == 0 {
		return nil, errors.New("auth: tokens: there are none")
	}
	return entries, nil
}

// parseEntry reads the words of a line. Errors quote none of them: one may be a token
// that somebody has put in the wrong place.
func parseEntry(words []string) (e entry, err error) {
	if len(words) != 3 {
		return e, fmt.Errorf("want role, name and hash, found %d words", len(words))
	}
	if e.role, err = ParseRole(words[0]); err != nil {
		return e, errors.New("the first word is no role: want viewer, client, operator or admin")
	}
	if e.name = words[1]; CheckName(e.name) != nil {
		return e, errors.New("the second word is no name: it cannot be printed")
	}
	hash, err := hex.DecodeString(words[2])
	if err != nil || len(hash) != sha256.Size {
		return e, fmt.Errorf("the third word is no hash: want %d hexadecimal digits", 2*sha256.Size)
	}
	copy(e.hash[:], hash)
	return e, nil
}

// CheckName refuses a name that cannot stand in a token file, or that would forge a line of a log.
func CheckName(name string) error {
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, breaksName) {
		return fmt.Errorf("name %.40q: want one printable word without #", name)
	}
	return nil
}

// breaksName reports whether a character ends the word, begins a comment, steers a terminal, or turns the
// text after it round. Joiners, which are as invisible, are letters of some languages.
func breaksName(r rune) bool {
	return unicode.IsSpace(r) || r == '#' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// NewToken makes a token nobody can guess.
func NewToken() string { return "bedrock-" + strings.ToLower(rand.Text()) }

// HashToken is how a token stands in a token file.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// find looks a token up by its hash; the zero entry is nobody's. It compares with every
// entry and takes as long for any token.
func (t *Tokens) find(hash [sha256.Size]byte) (found entry) {
	for _, e := range t.current() {
		if subtle.ConstantTimeCompare(e.hash[:], hash[:]) == 1 {
			found = e
		}
	}
	return found
}
