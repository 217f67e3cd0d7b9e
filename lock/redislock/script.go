package redislock

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts, nobody relies on it for security
	_ "embed"
	"encoding/hex"
	"strings"
)

// Script is a Lua script that is run by its digest and sent in full only to a
// server that does not know it yet.
type Script struct {
	text, sha string
}

// newScript makes a script of one text after another: functions it calls come first.
func newScript(texts ...string) *Script {
	text := strings.Join(texts, "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return &Script{text: text, sha: hex.EncodeToString(sum[:])}
}

// Text returns the script itself, for EVAL.
func (s *Script) Text() *string { return &s.text }

// SHA returns the script's digest, for EVALSHA.
func (s *Script) SHA() *string { return &s.sha }

//go:embed scripts/tell.lua
var tellText string

//go:embed scripts/hint.lua
var hintText string

//go:embed scripts/acquire.lua
var acquireText string

//go:embed scripts/release.lua
var releaseText string

//go:embed scripts/renew.lua
var renewText string

//go:embed scripts/force.lua
var forceText string

//go:embed scripts/inspect.lua
var inspectText string

//go:embed scripts/replicas.lua
var replicasText string

//go:embed scripts/redlock_acquire.lua
var redlockAcquireText string

//go:embed scripts/redlock_release.lua
var redlockReleaseText string

//go:embed scripts/redlock_renew.lua
var redlockRenewText string

//go:embed scripts/redlock_force.lua
var redlockForceText string

//go:embed scripts/redlock_inspect.lua
var redlockInspectText string

// scripts are what a profile runs.
type scripts struct {
	acquire, release, renew, force, inspect, replicas *Script
}

func redissonScripts() scripts {
	return scripts{
		acquire: newScript(acquireText), release: newScript(tellText, releaseText), renew: newScript(hintText, renewText),
		force: newScript(tellText, forceText), inspect: newScript(inspectText), replicas: newScript(replicasText),
	}
}

func redlockScripts() scripts {
	return scripts{
		acquire: newScript(redlockAcquireText), release: newScript(tellText, redlockReleaseText),
		renew: newScript(hintText, redlockRenewText), force: newScript(tellText, redlockForceText),
		inspect: newScript(redlockInspectText), replicas: newScript(replicasText),
	}
}
