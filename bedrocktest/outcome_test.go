package bedrocktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// outcomes are the assertions on what became of a transaction, by what they assert.
func outcomes() map[string]func(testing.TB, bedrocktest.Coordinator, string) *txn.Transaction {
	return map[string]func(testing.TB, bedrocktest.Coordinator, string) *txn.Transaction{
		"committed": bedrocktest.Committed, "rolled-back": bedrocktest.RolledBack, "in-doubt": bedrocktest.InDoubt,
		"parked": bedrocktest.Parked,
	}
}

// TestOutcomeIsMistaken brings a transaction to every outcome, about which one assertion
// is right and all others complain, with the timeline.
func TestOutcomeIsMistaken(t *testing.T) {
	park := &txn.Policy{Attempts: 1, Then: txn.Park}
	for outcome, c := range map[string]struct {
		script func(p *bedrocktest.Participant)
		policy *txn.Policy
		then   func(t *testing.T, co *coord.Coordinator, id string)
		shows  string
	}{
		"committed": {shows: "pay action    done"},
		"rolled-back": {
			script: func(p *bedrocktest.Participant) { p.On("pay action").Refuse("no money") }, shows: "no money",
		},
		"parked": {
			script: func(p *bedrocktest.Participant) { p.On("pay action").Fail(1) }, policy: park,
			shows: "as the script says",
		},
		"in-doubt": {
			script: func(p *bedrocktest.Participant) { p.On("pay action").Fail(1) }, policy: park,
			then: func(t *testing.T, co *coord.Coordinator, id string) {
				bedrocktest.Parked(t, co, id)
				if err := co.Act(t.Context(), id, txn.ActAbandon, "nobody knows"); err != nil {
					t.Error(err)
				}
			},
			shows: "nobody knows",
		},
	} {
		t.Run(outcome, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := bedrocktest.NewParticipant()
				if c.script != nil {
					c.script(parts)
				}
				co := start(t, memstore.New(nil), nil, parts)
				id := submit(t, co, order(c.policy))
				if c.then != nil {
					c.then(t, co, id)
				}
				for asserted, assert := range outcomes() {
					if asserted == outcome {
						assert(t, co, id)
						continue
					}
					complains(t, []string{id, "want it " + asserted, outcome, "submitted", "stock action", c.shows},
						func(t testing.TB) { assert(t, co, id) })
				}
			})
		})
	}
}

func TestUnknownTransactionHasAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		co := start(t, memstore.New(nil), nil, bedrocktest.NewParticipant())
		for _, assert := range outcomes() {
			complains(t, []string{`"nothing" is not known`}, func(t testing.TB) { assert(t, co, "nothing") })
		}
	})
}

// TestAssertionWaitsForEver: the transaction does not come to an end.
func TestAssertionWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := bedrocktest.NewParticipant()
		parts.On("stock action").Fail(bedrocktest.Always)
		co := start(t, memstore.New(nil), nil, parts)
		id, began := submit(t, co, order(nil)), time.Now()
		complains(t, []string{"it is running", "failed"}, func(t testing.TB) { bedrocktest.Committed(t, co, id) })
		if took := time.Since(began); took != time.Minute {
			t.Errorf("waited %s", took)
		}
	})
}

func TestTransactionIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := bedrocktest.NewParticipant()
		co := start(t, memstore.New(nil), nil, parts)
		bedrocktest.Committed(t, co, submit(t, co, order(nil)))
		bedrocktest.NoTransactionsLeft(t, co)
		parts.On("pay action").Hang(1)
		d := order(nil)
		d.ID = "order-2"
		submit(t, co, d)
		time.Sleep(5 * time.Second) // what has been done is written by then
		complains(t, []string{"order-2 is left behind, running", "stock action"},
			func(t testing.TB) { bedrocktest.NoTransactionsLeft(t, co) })
	})
}
