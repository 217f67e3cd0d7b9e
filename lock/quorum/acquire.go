package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/several"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := b.stores.CheckRequest(ctx, &req); err != nil {
		return driver.Grant{}, fmt.Errorf("quorum: acquire %q: %w", req.Name, err)
	}
	e := b.newElection(&req)
	g, err := e.elect(ctx)
	if err != nil {
		if _, held := errors.AsType[*driver.HeldError](err); held {
			return driver.Grant{}, err
		}
		return driver.Grant{}, fmt.Errorf("quorum: acquire %q: %w", req.Name, err)
	}
	return g, nil
}

// election is one request, put to the nodes.
type election struct {
	*backend
	req    driver.Request // as a node is asked
	ballot *several.Ballot
	tally  tally
	began  time.Duration
	again  bool // it is a grant already, and is asked for once more

	watched *several.Watched // nil if nobody waits for the name here
}

func (b *backend) newElection(req *driver.Request) *election {
	e := &election{backend: b, ballot: b.stores.Open(req), began: b.stores.Now()}
	e.watched = b.stores.WatchedName(req.Name)
	e.tally.need, e.tally.nodes = b.need, len(b.stores.Nodes)
	e.req, e.again = e.ballot.AsVote(req)
	e.req.Age = b.age(req.TTL)
	return e
}

// elect puts the request to the nodes, and sees to it that nothing is left where it is refused.
func (e *election) elect(ctx context.Context) (driver.Grant, error) {
	nodes, refusal := e.askFirst(ctx)
	if refusal != nil {
		return driver.Grant{}, refusal
	}
	votes, err := e.askAll(ctx, nodes)
	if err != nil {
		return driver.Grant{}, err
	}
	if e.tally.won() {
		g, err := e.agree(ctx)
		if err == nil {
			return g, nil
		}
		e.tally.errs = append(e.tally.errs, err)
	}
	e.awaitStragglers(ctx, votes)
	return driver.Grant{}, e.lose(ctx)
}

// vote is what a node answers.
type vote struct {
	grant driver.Grant
	kept  bool // it had given it before, and has not forgotten
	err   error
}

// askAll asks nodes at the same time, until it is clear whether there is a majority. If it takes some that are slow to
// make one, because others have refused, it does not wait for long: it keeps votes from others meanwhile.
func (e *election) askAll(ctx context.Context, nodes []*several.Node) (several.Answers[vote], error) {
	e.tally.pending = len(nodes)
	answers := several.Gather(e.stores, nodes, e.ballot.Seek, e.whatToAsk())
	caller, limit := timelimit.Ends(ctx)
	var late <-chan time.Time
	for e.tally.isOpen() {
		if late == nil && e.tally.isHeld() {
			slow := time.NewTimer(slowVote)
			defer slow.Stop()
			late = slow.C
		}
		select {
		case a := <-answers.C:
			e.tally.add(a.Node, a.Value)
		case <-late:
			return answers, nil
		case <-caller:
			return answers, &driver.UnderwayError{Err: ctx.Err(), Ended: answers.Ended}
		case <-limit:
			return answers, &driver.UnderwayError{Err: ctx.Err(), Ended: answers.Ended}
		}
	}
	return answers, nil
}

// whatToAsk returns what asks a node. Those that answer late may be asked while the others are asked for other tokens.
func (e *election) whatToAsk() func(ctx context.Context, n *several.Node) vote {
	req := e.req
	if e.again {
		return func(ctx context.Context, n *several.Node) vote {
			g, kept, err := e.ballot.AskAgain(ctx, n, req)
			return vote{g, kept, err}
		}
	}
	return func(ctx context.Context, n *several.Node) vote {
		g, err := e.ballot.Ask(ctx, n, req)
		return vote{g, false, err}
	}
}

// agree sees to it that so many nodes have the grant's token that whoever comes next is given a higher one.
func (e *election) agree(ctx context.Context) (driver.Grant, error) {
	if e.again && e.tally.kept >= e.keep { // nobody else can have had it meanwhile
		return e.ballot.Again(e.req.TTL, e.began), nil
	}
	e.again = false
	first, tokens := e.stores.Agree(e.tally.grants, e.Majority)
	for tokens == 0 {
		if err := e.raise(ctx, first); err != nil {
			return driver.Grant{}, err
		}
		first, tokens = e.stores.Agree(e.tally.grants, e.Majority)
	}
	g := e.ballot.Win(first, min(tokens, e.req.Tokens), e.began)
	e.ballot.Seek()
	return g, nil
}

// raise asks those nodes anew that have given lower tokens than first.
func (e *election) raise(ctx context.Context, first uint64) error {
	var lower []*several.Node
	for i, g := range e.tally.grants {
		if g.Token+uint64(g.Tokens)-1 < first {
			lower = append(lower, e.tally.by[i])
		}
	}
	e.req.Above = first - 1
	e.tally.dropVotes(lower)
	_, err := e.askAll(ctx, lower)
	if err == nil && !e.tally.won() {
		err = fmt.Errorf("%w: too few have taken token %d", driver.ErrUnavailable, first)
	}
	return err
}

// awaitStragglers gives those a moment who have not answered when the request has failed: then there is nothing to
// undo where they refuse, too. If it depends on them whether others have the lock, or nobody can, they are given
// longer.
func (e *election) awaitStragglers(ctx context.Context, answers several.Answers[vote]) {
	if e.tally.pending == 0 {
		return
	}
	open, pause := e.tally.mayBeHeld(), min(e.stores.Now()-e.began, longestMoment)+time.Millisecond
	if open {
		pause = slowVote
	}
	moment := time.NewTimer(pause)
	defer moment.Stop()
	caller, limit := timelimit.Ends(ctx)
	for e.tally.pending > 0 && open == e.tally.mayBeHeld() {
		select {
		case a := <-answers.C:
			e.tally.add(a.Node, a.Value)
		case <-moment.C:
			return
		case <-caller:
			return
		case <-limit:
			return
		}
	}
}

// slowVote is how long a vote is waited for where others have refused. It is longer than any line should be: who
// gives up although it would have had a majority may do so again.
const slowVote = 200 * time.Millisecond

const longestMoment = 20 * time.Millisecond

// lose ends a request that has failed. Where it may go on under the same owner, the votes it has are left.
func (e *election) lose(ctx context.Context) error {
	err := e.tally.failure(e.keep)
	e.learn(err)
	if e.tally.mayGoOn() {
		return err
	}
	if e.ballot.GiveBack(ctx) {
		return driver.Spent(err)
	}
	return err
}
