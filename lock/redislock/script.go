package redislock

import (
	_ "embed"

	"github.com/bedrock-go/bedrock/redisconn"
)

//go:embed scripts/tell.lua
var tellText string

//go:embed scripts/hint.lua
var hintText string

//go:embed scripts/heir.lua
var heirText string

//go:embed scripts/pass.lua
var passText string

//go:embed scripts/acquire_free.lua
var acquireFreeText string

//go:embed scripts/acquire.lua
var acquireText string

//go:embed scripts/release_alone.lua
var releaseAloneText string

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
	acquire, release, renew, force, inspect, replicas *redisconn.Script
}

func redissonScripts() scripts {
	return scripts{
		acquire:  redisconn.NewScript(acquireFreeText, heirText, acquireText),
		release:  redisconn.NewScript(releaseAloneText, tellText, heirText, passText, releaseText),
		renew:    redisconn.NewScript(hintText, renewText),
		force:    redisconn.NewScript(tellText, heirText, forceText),
		inspect:  redisconn.NewScript(inspectText),
		replicas: redisconn.NewScript(replicasText),
	}
}

func redlockScripts() scripts {
	return scripts{
		acquire: redisconn.NewScript(redlockAcquireText), release: redisconn.NewScript(tellText, redlockReleaseText),
		renew: redisconn.NewScript(hintText, redlockRenewText), force: redisconn.NewScript(tellText, redlockForceText),
		inspect: redisconn.NewScript(redlockInspectText), replicas: redisconn.NewScript(replicasText),
	}
}
