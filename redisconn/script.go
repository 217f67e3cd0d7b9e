package redisconn

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts, nobody relies on it for security
	"encoding/hex"
	"strings"
)

// Script is a Lua script that is run by its digest and sent in full only to a
// server that does not know it yet.
type Script struct {
	text, sha string
}

// NewScript makes a script of one text after another: functions it calls come first.
func NewScript(texts ...string) *Script {
	text := strings.Join(texts, "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return &Script{text: text, sha: hex.EncodeToString(sum[:])}
}

// Text returns the script itself, for EVAL.
func (s *Script) Text() *string { return &s.text }

// SHA returns the script's digest, for EVALSHA.
func (s *Script) SHA() *string { return &s.sha }
