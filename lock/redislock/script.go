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

//go:embed scripts/keys.lua
var keysText string

//go:embed scripts/line.lua
var lineText string

//go:embed scripts/fair_acquire.lua
var fairAcquireText string

//go:embed scripts/advance.lua
var advanceText string

//go:embed scripts/kind.lua
var kindText string

//go:embed scripts/crowd.lua
var crowdText string

//go:embed scripts/rw.lua
var rwText string

//go:embed scripts/rw_acquire.lua
var rwAcquireText string

//go:embed scripts/rw_release.lua
var rwReleaseText string

//go:embed scripts/rw_renew.lua
var rwRenewText string

//go:embed scripts/semaphore.lua
var semaphoreText string

//go:embed scripts/permit.lua
var permitText string

//go:embed scripts/permit_count.lua
var permitCountText string

//go:embed scripts/plain_count.lua
var plainCountText string

//go:embed scripts/permit_acquire.lua
var permitAcquireText string

//go:embed scripts/permit_release.lua
var permitReleaseText string

//go:embed scripts/permit_renew.lua
var permitRenewText string

//go:embed scripts/free.lua
var freeText string

//go:embed scripts/acquire_free.lua
var acquireFreeText string

//go:embed scripts/acquire_held.lua
var acquireHeldText string

//go:embed scripts/acquire.lua
var acquireText string

//go:embed scripts/give.lua
var giveText string

//go:embed scripts/held.lua
var heldText string

//go:embed scripts/bundle_mutex.lua
var bundleMutexText string

//go:embed scripts/bundle.lua
var bundleText string

//go:embed scripts/annotate.lua
var annotateText string

//go:embed scripts/rw_downgrade.lua
var rwDowngradeText string

//go:embed scripts/rw_annotate.lua
var rwAnnotateText string

//go:embed scripts/permit_annotate.lua
var permitAnnotateText string

//go:embed scripts/countdown.lua
var countdownText string

//go:embed scripts/countdown_set.lua
var countdownSetText string

//go:embed scripts/countdown_down.lua
var countdownDownText string

//go:embed scripts/countdown_left.lua
var countdownLeftText string

//go:embed scripts/countdown_drop.lua
var countdownDropText string

//go:embed scripts/vote_rules.lua
var voteRulesText string

//go:embed scripts/vote.lua
var voteText string

//go:embed scripts/vote_held.lua
var voteHeldText string

//go:embed scripts/release_alone.lua
var releaseAloneText string

//go:embed scripts/release.lua
var releaseText string

//go:embed scripts/renew.lua
var renewText string

//go:embed scripts/owners.lua
var ownersText string

//go:embed scripts/plead.lua
var pleadText string

//go:embed scripts/force.lua
var forceText string

//go:embed scripts/inspect.lua
var inspectText string

//go:embed scripts/replicas.lua
var replicasText string

//go:embed scripts/redlock_acquire.lua
var redlockAcquireText string

//go:embed scripts/redlock_bundle.lua
var redlockBundleText string

//go:embed scripts/redlock_vote.lua
var redlockVoteText string

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
	acquire, bundle, vote, fair, release, renew, force, inspect, replicas *redisconn.Script
	annotate                                                              *redisconn.Script // nil without metadata
	rw, permit                                                            crowdScripts      // nil without such kinds
	plead                                                                 *redisconn.Script // nil without messages
	countdown                                                             countdownScripts  // nil without latches
}

// countdownScripts are those of latches.
type countdownScripts struct{ set, down, left, drop *redisconn.Script }

// crowdScripts are those of a kind that several may have at once.
type crowdScripts struct {
	acquire, release, renew, annotate *redisconn.Script
	downgrade                         *redisconn.Script // nil where nobody writes
}

// A script with the former looks for permits of an RSemaphore whose number is gone, see kind.lua. What is granted looks
// where semaphores are kept like that: others would pay for it, and need one more permission.
const (
	looksForPermits = "local NUMBERLESS = true"
	looksForNumbers = "local NUMBERLESS = false"
)

func redissonScripts(semaphores Semaphores) scripts {
	counting, looks := permitCountText, looksForNumbers
	if semaphores == RSemaphore {
		counting, looks = plainCountText, looksForPermits
	}
	return scripts{
		acquire: redisconn.NewScript(
			looks, freeText, acquireFreeText, heirText, keysText, semaphoreText, advanceText, heldText,
			acquireHeldText, giveText, acquireText),
		bundle: redisconn.NewScript(
			looks, heirText, keysText, semaphoreText, advanceText, heldText, giveText, bundleMutexText, bundleText),
		vote: redisconn.NewScript(
			looks, freeText, advanceText, voteRulesText, giveText, voteText, heirText, keysText, semaphoreText,
			heldText, acquireHeldText, voteHeldText),
		fair: redisconn.NewScript(
			looks, heirText, keysText, kindText, semaphoreText, advanceText, lineText, fairAcquireText),
		release: redisconn.NewScript(
			releaseAloneText, tellText, heirText, keysText, advanceText, lineText, passText, releaseText),
		renew: redisconn.NewScript(hintText, keysText, renewText),
		force: redisconn.NewScript(
			looksForPermits, tellText, heirText, keysText, kindText, semaphoreText, rwText, advanceText, lineText,
			ownersText, forceText),
		plead: redisconn.NewScript(
			looksForPermits, heirText, keysText, kindText, semaphoreText, rwText, permitText, ownersText, pleadText),
		inspect: redisconn.NewScript(
			looksForPermits, keysText, kindText, semaphoreText, rwText, permitText, inspectText),
		replicas: redisconn.NewScript(replicasText),
		annotate: redisconn.NewScript(annotateText),
		rw: crowdScripts{
			acquire: redisconn.NewScript(
				looks, keysText, kindText, semaphoreText, crowdText, rwText, advanceText, rwAcquireText),
			release:   redisconn.NewScript(tellText, keysText, rwText, rwReleaseText),
			renew:     redisconn.NewScript(hintText, keysText, crowdText, rwText, rwRenewText),
			annotate:  redisconn.NewScript(keysText, crowdText, rwText, rwAnnotateText),
			downgrade: redisconn.NewScript(tellText, keysText, rwText, rwDowngradeText),
		},
		permit: crowdScripts{
			acquire: redisconn.NewScript(
				looks, keysText, kindText, semaphoreText, crowdText, permitText, counting, advanceText,
				permitAcquireText),
			release:  redisconn.NewScript(tellText, crowdText, permitText, permitReleaseText),
			renew:    redisconn.NewScript(keysText, crowdText, permitText, permitRenewText),
			annotate: redisconn.NewScript(crowdText, permitText, permitAnnotateText),
		},
		countdown: countdownScripts{
			set: countdownScript(looks, countdownSetText), down: countdownScript(looks, countdownDownText),
			left: countdownScript(looks, countdownLeftText), drop: countdownScript(looks, countdownDropText),
		},
	}
}

func countdownScript(looks, text string) *redisconn.Script {
	return redisconn.NewScript(looks, tellText, keysText, kindText, semaphoreText, countdownText, text)
}

func redlockScripts() scripts {
	return scripts{
		acquire: redisconn.NewScript(redlockAcquireText),
		bundle:  redisconn.NewScript(advanceText, redlockBundleText, bundleText),
		vote:    redisconn.NewScript(advanceText, voteRulesText, redlockVoteText),
		release: redisconn.NewScript(tellText, redlockReleaseText),
		renew:   redisconn.NewScript(hintText, redlockRenewText),
		force:   redisconn.NewScript(tellText, redlockForceText),
		inspect: redisconn.NewScript(redlockInspectText), replicas: redisconn.NewScript(replicasText),
	}
}
