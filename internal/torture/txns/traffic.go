package txns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/replicas"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// traffic is all clients.
type traffic struct {
	*run

	co    *replicas.Coordinator
	hasty *replicas.Coordinator // asks once
	calls *httpcall.Caller
	http  *http.Client
	drawn atomic.Int64
	// waiting bounds how long clients wait for an end.
	waiting context.Context //nolint:containedctx // it ends all clients of a run at once
}

// clients let transfers flow until ctx ends.
func (t *traffic) clients(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range t.Clients {
		random := rand.New(rand.NewPCG(t.Seed, uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil {
				drawn := drawTransfer(random, t.drawn.Add(1))
				t.make(&drawn, random)
			}
		})
	}
	all.Go(func() { t.crowds(ctx) })
	return &all
}

// The crowds: many at once, for longer than a call may take.
const (
	crowdEvery = 10 * time.Second
	crowdSize  = 250
	crowdHold  = 700 * time.Millisecond
)

// crowds come one after another: what a slow machine cannot do must not pile up.
func (t *traffic) crowds(ctx context.Context) {
	random := rand.New(rand.NewPCG(t.Seed, 1<<32))
	for sleep.For(ctx, crowdEvery/4) {
		var all sync.WaitGroup
		for range crowdSize {
			drawn := drawTransfer(random, t.drawn.Add(1))
			drawn.Mode, drawn.Fate, drawn.Hold, drawn.Amount = saga.Name, crowd, crowdHold, 1
			drawn.ID = fmt.Sprintf("saga-crowd-%d", t.drawn.Load())
			all.Go(func() { t.make(&drawn, nil) })
		}
		sleep.For(ctx, crowdEvery*3/4)
		all.Wait()
	}
}

// make makes one transfer, and writes down what its client is told.
func (t *traffic) make(tr *transfer, random *rand.Rand) {
	t.add(&event{Kind: kindBegun, ID: tr.ID, Fate: tr.Fate, Mode: tr.Mode})
	result, err := t.runTransfer(t.waiting, tr, random)
	e := &event{Kind: kindTold, ID: tr.ID, Fate: tr.Fate, Mode: tr.Mode, Result: result.Outcome, Text: result.Reason}
	if _, rolledBack := errors.AsType[*txn.RolledBackError](err); err != nil && !rolledBack {
		e.Failed, e.Text = true, err.Error()
	}
	t.add(e)
}

func (t *traffic) runTransfer(ctx context.Context, tr *transfer, random *rand.Rand) (txn.Result, error) {
	switch {
	case tr.Fate == muted:
		return t.mute(ctx, tr)
	case tr.Mode == msg.Name:
		return t.sendMessage(ctx, tr)
	case tr.Fate == byHand:
		return t.byHand(ctx, tr)
	case tr.Fate == parks:
		return t.park(ctx, tr, random)
	case tr.Fate == once:
		return t.once(ctx, tr)
	}
	d, err := tr.definition(t.service.url())
	if err != nil {
		return txn.Result{}, err
	}
	result, err := t.co.Run(ctx, d)
	if _, parked := errors.AsType[*txn.ParkedError](err); parked {
		return t.persist(ctx, tr.ID) // its way back had too few attempts
	}
	return result, err
}

// once asks one replica, once. That it was not accepted for sure has to be true.
func (t *traffic) once(ctx context.Context, tr *transfer) (txn.Result, error) {
	d, err := tr.definition(t.service.url())
	if err != nil {
		return txn.Result{}, err
	}
	asking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	result, err := t.hasty.Next().Run(asking, d)
	_, doubt := errors.AsType[*txn.InDoubtError](err)
	switch {
	case err != nil && !doubt && result.Outcome == "" && !errors.Is(err, context.DeadlineExceeded):
		t.add(&event{Kind: kindNever, ID: tr.ID, Text: err.Error()})
		return result, err
	case !replicas.Unanswered(err):
		return result, err
	}
	result, err = t.co.Wait(ctx, tr.ID)
	if errors.Is(err, txn.ErrNotFound) {
		return t.co.Run(ctx, d) // it is ours alone, so it is known now that it was not accepted
	}
	return result, err
}

// byHand lets the client try, and commit about when the deadline is.
func (t *traffic) byHand(ctx context.Context, tr *transfer) (txn.Result, error) {
	trip, err := tcc.Begin(ctx, t.co, "by-hand", &tcc.Options{ID: tr.ID, Timeout: handTimeout})
	if err != nil {
		return txn.Result{}, err
	}
	deadline := history.Now() + handTimeout // that of the store is not after it
	policy := tr.policy()
	for id, m := range map[string]accounts.Movement{"debit": tr.debit(), "credit": tr.credit()} {
		to := txn.Target(t.service.url() + "/" + id)
		err = errors.Join(err, trip.Try(ctx, tcc.Branch{ID: id, Confirm: to, Cancel: to, Payload: m, Policy: &policy},
			func(ctx context.Context) error {
				call, _ := txn.CallFrom(ctx)
				answer := t.calls.Call(ctx, to, call)
				if answer.Kind != "done" {
					return errors.New(answer.Note)
				}
				return nil
			}))
	}
	if err == nil {
		sleep.For(ctx, deadline+tr.Hold-history.Now())
		late := history.Now() - deadline
		err := trip.Commit(ctx)
		t.add(&event{Kind: kindCommit, ID: tr.ID, Late: late, Failed: err != nil, Text: textOf(err)})
	}
	return t.co.Wait(ctx, tr.ID)
}

// park waits until a transfer is parked, and does something about it after a while.
func (t *traffic) park(ctx context.Context, tr *transfer, random *rand.Rand) (txn.Result, error) {
	d, err := tr.definition(t.service.url())
	if err != nil {
		return txn.Result{}, err
	}
	result, err := t.co.Run(ctx, d)
	if _, parked := errors.AsType[*txn.ParkedError](err); !parked {
		return result, err
	}
	t.add(&event{Kind: kindParked, ID: tr.ID})
	sleep.For(ctx, nemesis.Between(random, 200*time.Millisecond, time.Second))
	t.attend(ctx, tr.ID, []string{"resume", "roll-back", "compensate"}[random.IntN(3)])
	return t.persist(ctx, tr.ID)
}

// attend does something about a transaction that is parked.
func (t *traffic) attend(ctx context.Context, id, action string) {
	if action == "resume" {
		for t.orderService(ctx, "/repair?"+url.Values{"id": {id}}.Encode()) != nil &&
			sleep.For(ctx, 50*time.Millisecond) {
		}
	}
	t.add(&event{Kind: kindAct, ID: id, Text: "before " + action})
	err := t.intervene(ctx, id, action)
	t.add(&event{Kind: kindAct, ID: id, Text: action, Failed: err != nil})
}

// persist waits for the end of a transaction that may be parked again, because its
// participants were away when somebody had acted: then it is resumed.
func (t *traffic) persist(ctx context.Context, id string) (txn.Result, error) {
	for {
		result, err := t.co.Wait(ctx, id)
		if _, parked := errors.AsType[*txn.ParkedError](err); !parked || !sleep.For(ctx, 200*time.Millisecond) {
			return result, err
		}
		t.attend(ctx, id, "resume")
	}
}

func (t *traffic) intervene(ctx context.Context, id, action string) error {
	if action == "roll-back" {
		return t.co.RollBack(ctx, id, "nobody has repaired it")
	}
	for {
		err := t.co.AskOne(ctx, func(ctx context.Context, c *client.Client) error {
			return c.Act(ctx, id, txn.Action(action), "somebody has looked at it")
		})
		if err == nil || errors.Is(err, txn.ErrAction) || errors.Is(err, txn.ErrDecided) || !sleep.For(ctx,
			50*time.Millisecond) {
			return err
		}
	}
}

// mute sends a message whose producer cannot be asked; when that has parked it, the
// producer gives its word after all.
func (t *traffic) mute(ctx context.Context, tr *transfer) (txn.Result, error) {
	if err := t.produce(ctx, tr); err != nil {
		return txn.Result{}, err
	}
	for {
		now, err := t.co.Get(ctx, tr.ID)
		switch {
		case err != nil:
			return txn.Result{}, err
		case now.Parked == "" && now.Status == txn.Open:
			if !sleep.For(ctx, 50*time.Millisecond) {
				return txn.Result{}, ctx.Err()
			}
			continue
		case now.Parked == "":
			return t.co.Wait(ctx, tr.ID)
		}
		t.add(&event{Kind: kindParked, ID: tr.ID})
		sleep.For(ctx, 400*time.Millisecond)
		t.add(&event{Kind: kindAct, ID: tr.ID, Text: "before submit"})
		err = t.co.Commit(ctx, tr.ID)
		t.add(&event{Kind: kindAct, ID: tr.ID, Text: "submit", Failed: err != nil})
		return t.co.Wait(ctx, tr.ID)
	}
}

// sendMessage asks the producer for a message, and waits for its end.
func (t *traffic) sendMessage(ctx context.Context, tr *transfer) (txn.Result, error) {
	if err := t.produce(ctx, tr); err != nil {
		return txn.Result{}, err
	}
	return t.co.Wait(ctx, tr.ID)
}

// produce asks as often as it takes to get an answer.
func (t *traffic) produce(ctx context.Context, tr *transfer) error {
	body, err := json.Marshal(tr)
	if err != nil {
		return err
	}
	for {
		err := t.post(ctx, "/send", body)
		if err == nil || !sleep.For(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

// post tells the service something.
func (t *traffic) post(ctx context.Context, path string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.service.url()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := t.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	if res.StatusCode >= http.StatusInternalServerError {
		return errors.New(res.Status)
	}
	return nil
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
