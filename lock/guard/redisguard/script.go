package redisguard

import (
	_ "embed"

	"github.com/bedrock-go/bedrock/redisconn"
)

//go:embed fence.lua
var fenceText string

//go:embed run.lua
var runText string

// Script is work in Lua that is done only for who has the lock. Make it once.
type Script struct{ whole *redisconn.Script }

// NewScript wraps a Lua script as one would give it to EVAL: it finds its keys in KEYS and its arguments in ARGV. It is
// not run if the token is stale.
func NewScript(text string) *Script {
	// On the first line, so that Redis counts the user's lines as she does.
	return &Script{redisconn.NewScript("local work = function(KEYS, ARGV) "+text+"\nend", fenceText, runText)}
}
