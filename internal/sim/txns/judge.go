package txns

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// The rules.
const (
	ruleOutcome  = "everything ends as told"
	ruleEffects  = "all parts end the same way"
	ruleDecision = "a decision stays, and comes before what follows from it"
	ruleCause    = "nothing is rolled back without a cause"
	ruleNobody   = "no attempt is used up by what is nobody's failure"
	ruleTaken    = "what was taken back is never told as done again"
	ruleLadder   = "no call beyond the ladder"
	ruleOnce     = "what is done is not asked for again"
	ruleParked   = "parked means that nothing happens"
	ruleMemory   = "memory of the caller is not read after the call"
	ruleDeadline = "nothing joins or commits after the deadline"
	rulePrompt   = "a call ends with its context"
	ruleEnds     = "every accepted transaction ends"
	ruleRest     = "at rest nothing happens"
)

// promptly is how soon a call must end after its context has.
const promptly = 200 * time.Millisecond

// judge sees what the store does, what participants are asked and what clients are
// told, and knows the rules.
type judge struct {
	world  *world
	report *sim.Report
	ledger *ledger

	mu      sync.Mutex
	records map[string]*history
	visits  map[mark][]*visit
	health  map[site2]*health
	claims  []*claim
	lost    []*life // replicas that have ended
	asks    int
	resumed map[string]time.Duration // in the end, when everything was well
}

// site2 is a target as one replica sees it.
type site2 struct{ replica, target int }

// history is what the store has had of one transaction.
type history struct {
	status   driver.Status
	epoch    int64
	parked   bool
	since    time.Duration // when it was parked
	decided  time.Duration // when the store had the decision
	deciding int64         // the epoch of that
	deadline time.Time
	begun    bool
	mode     string
}

// visit is one call of a participant.
type visit struct {
	mark
	number   int // of the calls of this operation
	replica  int
	target   int
	attempt  int
	epoch    int64
	from, to time.Duration // to is 0 while it lasts
	answer   txn.AnswerKind
	late     bool // its time was over
	broken   bool // it was broken off by the coordinator
}

func (v *visit) text() string { return v.id + "/" + v.branch + " " + v.op }

func newJudge(w *world) *judge {
	return &judge{
		world: w, report: w.report, ledger: newLedger(),
		records: make(map[string]*history), visits: make(map[mark][]*visit), health: make(map[site2]*health),
		resumed: make(map[string]time.Duration),
	}
}

// well reports whether the store was there for everybody since a time.
func (j *judge) well(since time.Duration) bool {
	return j.world.net.Well(sim.Everybody, since-aftermath)
}

// aftermath is how long a trouble of the store may be felt after its end.
const aftermath = 6 * time.Second

func (j *judge) countAsk(int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asks++
}

// wrote is told by the store of everything it takes.
func (j *judge) wrote(rec *driver.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.report.Now()
	h := j.records[rec.ID]
	if h == nil {
		h = &history{status: rec.Status, deadline: rec.Deadline, mode: rec.Mode, begun: rec.Status == driver.Open}
		j.records[rec.ID] = h
	}
	j.report.Trace("store: %s is %s, parked %q, waits for %q, epoch %d, revision %d, due %s",
		rec.ID, rec.Status, rec.Parked, rec.Waits,
		rec.Epoch, rec.Revision, rec.Due.Format("15:04:05.000000"))
	if !follows(h.status, rec.Status) {
		j.report.Break(ruleDecision, "%s went from %s to %s", rec.ID, h.status, rec.Status)
	}
	if rec.Status.Decided() && (h.decided == 0 || !h.status.Decided()) {
		h.decided, h.deciding = now, rec.Epoch
	}
	if !h.parked && rec.Parked != "" {
		h.since = now
	}
	h.status, h.epoch, h.parked = rec.Status, rec.Epoch, rec.Parked != ""
}

// follows reports whether a status may come after another.
func follows(before, after driver.Status) bool {
	switch before {
	case after, driver.Open, driver.Running:
		return true
	case driver.Committing:
		return after == driver.Committed || after == driver.InDoubt
	case driver.RollingBack:
		return after == driver.RolledBack || after == driver.InDoubt
	default:
		return false
	}
}

// calls is told when a participant is called.
func (j *judge) calls(replica, target int, call *txn.Call) *visit {
	j.mu.Lock()
	defer j.mu.Unlock()
	v := &visit{
		mark: mark{part{call.Transaction, call.Branch}, call.Op}, replica: replica, target: target,
		attempt: call.Attempt, epoch: call.Epoch, from: j.report.Now(),
	}
	before := j.visits[v.mark]
	v.number = len(before)
	j.visits[v.mark] = append(before, v)
	j.memory(call)
	if h := j.records[call.Transaction]; h != nil {
		j.timing(h, v)
	}
	if len(before) > 0 {
		j.repeated(before, v)
	}
	return v
}

// memory judges what a participant is given.
func (j *judge) memory(call *txn.Call) {
	if call.Op == "check" {
		return
	}
	if got := string(call.Payload); !right(got, call) || call.Headers["X-Of"] == "scribbled" {
		j.report.Break(ruleMemory, "%s/%s %s was given %q, headers %v",
			call.Transaction, call.Branch, call.Op, got, call.Headers)
	}
}

// right reports whether a payload is what was asked for. One that goes by a message of
// its own says itself whose it is.
func right(got string, call *txn.Call) bool {
	if len(call.Transaction) < 6 || call.Transaction[:6] != "async-" {
		return got == string(payload(call.Transaction, call.Branch))
	}
	var of string
	if _, err := fmt.Sscanf(got, `{"of":"%s`, &of); err != nil {
		return false
	}
	id := of[:max(0, indexByte(of, '/'))]
	return got == string(payload(id, call.Branch))
}

func indexByte(s string, b byte) int {
	for i := range len(s) {
		if s[i] == b {
			return i
		}
	}
	return -1
}

// timing judges whether a call may be made now. A replica that has been overtaken
// does not know; its calls have an older epoch.
func (j *judge) timing(h *history, v *visit) {
	if v.epoch < h.epoch {
		return
	}
	if h.parked {
		j.report.Break(ruleParked, "%s is called, and parked since %s", v.text(), h.since)
	}
	decided := h.status.Decided()
	switch {
	case forward(v.op) && decided && v.op[0] != 'h':
		j.report.Break(ruleDecision, "%s is called after %s was decided at %s", v.text(), h.status, h.decided)
	case !forward(v.op) && !decided:
		j.report.Break(ruleDecision, "%s is called, and %s is not decided", v.text(), h.status)
	}
}

// answers is told how a call ended.
func (j *judge) answers(ctx context.Context, v *visit, l *life, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v.to = j.report.Now()
	v.answer = kindOf(err)
	switch ctx.Err() {
	case context.DeadlineExceeded:
		v.late = true
	case context.Canceled:
		v.broken = true
	}
	j.report.Trace("replica %d called %s: %s after %s, late %v, broken off %v",
		l.replica, v.text(), v.answer, v.to-v.from, v.late, v.broken)
	j.healthOf(v).addVisit(v)
}

func kindOf(err error) txn.AnswerKind {
	switch {
	case err == nil:
		return txn.AnswerDone
	case txn.Aborted(err):
		return txn.AnswerRefused
	case isPending(err):
		return txn.AnswerPending
	default:
		return txn.AnswerFailed
	}
}

// addClaim is given what a client was told.
func (j *judge) addClaim(c *claim) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.claims = append(j.claims, c)
}

// ends is told that a replica ends.
func (j *judge) ends(l *life) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l.ended = j.report.Now()
	j.lost = append(j.lost, l)
}
