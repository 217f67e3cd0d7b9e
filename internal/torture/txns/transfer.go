package txns

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// fate is what is to become of a transfer.
type fate string

const (
	normal   fate = "normal"    // nothing stands in its way but faults, and other transfers' money
	poor     fate = "poor"      // more money than there is
	closed   fate = "closed"    // one of the accounts refuses
	late     fate = "late"      // a participant takes longer than the transaction may
	silent   fate = "silent"    // a message whose producer commits, and is not heard of again
	silentNo fate = "silent-no" // … and does nothing
	muted    fate = "muted"     // a message that is parked, because its producer cannot be asked
	parks    fate = "parks"     // a branch fails, until somebody resumes it or takes it back
	byHand   fate = "by-hand"   // TCC whose client tries, and commits about when it must not any more
	lettered fate = "lettered"  // with a branch that is a message of its own
	crowd    fate = "crowd"     // one of many at once
	queued   fate = "queued"    // … when nothing is broken, so that its first call must do
	once     fate = "once"      // its client asks one replica, once
	withFunc fate = "function"  // its participants are functions
	besides  fate = "besides"   // a branch is about to park it while another one is being called
)

// transfer moves money from one account to another.
type transfer struct {
	ID, Mode string
	From, To int
	Amount   int64
	Fate     fate
	Hold     time.Duration // how long a participant takes, or how late it is committed by hand
}

// drawTransfer makes a transfer up.
func drawTransfer(random *rand.Rand, n int64) transfer {
	t := transfer{
		Mode: []string{saga.Name, tcc.Name, msg.Name}[random.IntN(3)], Fate: normal,
		From: 1 + random.IntN(numAccounts), Amount: 1 + random.Int64N(maxAmount),
	}
	t.To = 1 + (t.From+random.IntN(numAccounts-1))%numAccounts
	switch roll := random.IntN(100); {
	case roll < 6:
		t.Fate, t.Amount = poor, 1e9
	case roll < 12:
		t.Fate = closed
	case roll < 15 && t.Mode != msg.Name:
		t.Fate, t.Hold = late, time.Second
	case roll < 20 && t.Mode == msg.Name:
		t.Fate = []fate{silent, silentNo, muted}[random.IntN(3)]
	case roll < 25:
		t.Mode, t.Fate = saga.Name, parks
	case roll < 37:
		t.Mode, t.Fate = tcc.Name, byHand
		t.Hold = nemesis.Between(random, -100*time.Millisecond, 400*time.Millisecond)
	case roll < 50:
		t.Mode, t.Fate = saga.Name, lettered
	case roll < 64 && t.Mode != msg.Name:
		t.Fate = once
	case roll < 72 && t.Mode != msg.Name:
		t.Fate = withFunc
	}
	t.ID = fmt.Sprintf("%s-%s-%d", t.Mode, t.Fate, n)
	if t.Fate == muted {
		t.ID = brokenCheck + t.ID
	}
	return t
}

// fails reports whether a transfer must not be committed.
func (t *transfer) fails() bool { return t.Fate == poor || t.Fate == closed || t.Fate == silentNo }

// succeeds reports whether nothing but a lack of money, or a fault, may keep a transfer from
// being committed.
func (t *transfer) succeeds() bool {
	switch t.Fate {
	case normal, lettered, crowd, queued, withFunc, once, silent:
		return true
	default:
		return false
	}
}

func (t *transfer) debit() accounts.Movement {
	m := accounts.Movement{Account: t.From, Amount: t.Amount, Closed: t.Fate == closed && t.Mode == msg.Name}
	if t.Fate == besides {
		m.Hang = t.Hold
	}
	return m
}

func (t *transfer) credit() accounts.Movement {
	m := accounts.Movement{Account: t.To, Amount: t.Amount, Closed: t.Fate == closed && t.Mode != msg.Name}
	switch t.Fate {
	case late, crowd, queued:
		m.Hang = t.Hold
	case parks:
		m.Broken = true
	case besides:
		m.Broken, m.Hang = true, backoff
	default:
	}
	return m
}

// The ladder of all branches.
const (
	callTimeout = 2 * time.Second
	backoff     = 100 * time.Millisecond
	maxBackoff  = 2 * time.Second
	// handTimeout is how long a client has that tries and commits by hand.
	handTimeout = 700 * time.Millisecond
)

// policy keeps pauses short, so that much happens in little time.
func (t *transfer) policy() txn.Policy {
	p := txn.Policy{Timeout: callTimeout, Backoff: backoff, MaxBackoff: maxBackoff}
	switch t.Fate {
	case parks, muted:
		p.Attempts, p.Then = 2, txn.Park
	case besides:
		p.Attempts, p.Then, p.Timeout = 1, txn.Park, 10*time.Second
	case crowd: // which waits in the store between its calls
		p.Attempts, p.Backoff = 2, maxBackoff
	case queued:
		p.Attempts = 1
	case lettered:
		p.Attempts = patientAttempts
	default:
	}
	return p
}

// mostLetters is how many a transfer with letters has.
const mostLetters = 4

func (t *transfer) letters() int {
	switch t.Fate {
	case lettered:
		return mostLetters
	case crowd:
		return 1
	default:
		return 0
	}
}

// patientAttempts are more than a service that is away for a while uses up.
const patientAttempts = 12

// timeout is far away, unless the transfer is to run into it.
func (t *transfer) timeout() time.Duration {
	if t.Fate == late {
		return t.Hold / 3
	}
	return time.Minute
}

// definition is the transfer as a transaction with the service at a URL.
func (t *transfer) definition(service string) (txn.Definition, error) {
	debit, credit := txn.Target(service+"/debit"), txn.Target(service+"/credit")
	if t.Fate == withFunc {
		debit, credit = functionPrefix+"debit", functionPrefix+"credit"
	}
	if t.Mode == tcc.Name {
		return tcc.New("transfer").
			Branch("debit", debit, debit, debit).Payload(t.debit()).Policy(t.policy()).
			Branch("credit", credit, credit, credit).Payload(t.credit()).Policy(t.policy()).
			Timeout(t.timeout()).ID(t.ID).Definition(nil)
	}
	s := saga.New("transfer").
		Step("debit", debit, debit).Payload(t.debit()).Policy(t.policy()).
		Step("credit", credit, credit).Payload(t.credit()).Policy(t.policy())
	// A letter is only written down, which nothing but the store can prevent.
	for i := range t.letters() {
		s = s.Step(fmt.Sprintf("note%d", i), txn.Async(txn.Target(service+"/note")), "").
			Payload(t.debit()).Policy(txn.Policy{Attempts: 1})
	}
	d, err := s.Timeout(t.timeout()).ID(t.ID).Definition(nil)
	if t.Fate == besides && err == nil {
		t.spread(&d)
	}
	return d, err
}

// spread makes the branches independent, and adds one that waits between its attempts.
func (*transfer) spread(d *txn.Definition) {
	waits := d.Branches[1]
	waits.ID, waits.Policy = "waits", &txn.Policy{Backoff: 3 * backoff}
	d.Branches = append(d.Branches, waits)
	for i := range d.Branches {
		d.Branches[i].After = nil
	}
}

// message is the transfer as a message: the producer debits in its own local transaction,
// and the credit is delivered.
func (t *transfer) message(service string) *msg.Message {
	p := txn.Policy{Timeout: callTimeout, Backoff: backoff, MaxBackoff: maxBackoff}
	check := t.policy()
	return msg.New("transfer").
		To("credit", txn.Target(service+"/credit")).Payload(t.credit()).Policy(p).
		Check(txn.Target(service+"/check"), 500*time.Millisecond, &check).ID(t.ID)
}
