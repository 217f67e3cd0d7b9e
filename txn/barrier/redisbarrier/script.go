package redisbarrier

import (
	_ "embed"

	"github.com/bedrock-go/bedrock/redisconn"
)

//go:embed barrier.lua
var barrierText string

//go:embed check.lua
var checkText string

//go:embed clean.lua
var cleanText string

// Script is a participant's work in Lua, to be run behind a barrier. Make it once.
type Script struct{ whole *redisconn.Script }

// NewScript wraps a Lua script as one would give it to EVAL: it finds its keys in
// KEYS and its arguments in ARGV, and calls redis.call. What it returns is the
// result: a string as it is, a number in digits, a table as JSON. Lua's numbers are
// exact up to 2^53 (9007199254740992), in tables as well; what counts further has to be
// a string.
//
// To refuse for a reason of the business it returns, before it has written
// anything, redis.error_reply('REFUSED not enough in stock').
//
// Look first, then write: Redis takes nothing back. A script that fails after its
// first write is half done. It is not run again, as that would do the first half
// twice; its calls fail with [ErrHalfDone] until the coordinator gives up and takes
// the branch back. The script that goes back must then be able to see from the keys
// what there is to take back.
func NewScript(text string) *Script {
	// On the first line, so that Redis counts the user's lines as she does.
	return &Script{redisconn.NewScript("local work = function(KEYS, ARGV, redis) "+text+"\nend", barrierText)}
}
