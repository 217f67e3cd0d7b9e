package txns

import (
	"context"
	"crypto/rand"
	"net/url"
	"strconv"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/dtm"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/orders"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
)

// dtmSystem is a DTM server that somebody else has started.
type dtmSystem struct {
	client *dtm.Client
	run    string // begins all identifiers, which the server remembers
	ids    atomic.Int64
	pid    int // 0: not on this machine, or not to be seen
	done   int // how many of the submitted sagas are known to have ended
}

func (b *bed) reachDTM(s Subject) system {
	d := &dtmSystem{client: dtm.New(s.URL, b.client), run: rand.Text()}
	d.pid, _ = serverOf(s)
	return d
}

// serverOf finds the process of a subject that somebody else has started, if it is
// on this machine and to be seen.
func serverOf(s Subject) (pid int, found bool) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return 0, false
	}
	return child.Listening(u.Host)
}

// id makes an identifier.
func (d *dtmSystem) id() string { return d.run + "-" + strconv.FormatInt(d.ids.Add(1), 10) }

// submitted names the saga that was submitted as number n.
func (d *dtmSystem) submitted(n int) string { return d.run + "-open-" + strconv.Itoa(n) }

func (d *dtmSystem) doer(m mode, addr string) (load.Do, error) {
	steps := steps(addr)
	switch m {
	case saga:
		return func(ctx context.Context, _ int) error {
			return d.client.Saga(ctx, d.id(), steps, orders.Payload, true)
		}, nil
	case tcc, ownTries: // its clients always make the tries themselves
		branches := []dtm.Branch{dtmBranch(addr, participants.First), dtmBranch(addr, participants.Last)}
		return func(ctx context.Context, _ int) error {
			return d.client.TCC(ctx, d.id(), branches, orders.Payload)
		}, nil
	case message:
		receivers := []dtm.Step{
			{Action: participants.First(addr, "deliver")}, {Action: participants.Last(addr, "deliver")},
		}
		check := participants.First(addr, "check")
		return func(ctx context.Context, _ int) error {
			return d.client.Message(ctx, d.id(), check, receivers, orders.Payload)
		}, nil
	default:
		return nil, unfit("dtm", m)
	}
}

// steps are those of a saga.
func steps(addr string) []dtm.Step {
	return []dtm.Step{
		{Action: participants.First(addr, "action"), Compensate: participants.First(addr, "compensate")},
		{Action: participants.Last(addr, "action"), Compensate: participants.Last(addr, "compensate")},
	}
}

// dtmBranch is one of a TCC transaction.
func dtmBranch(addr string, at func(addr, operation string) string) dtm.Branch {
	return dtm.Branch{Try: at(addr, "try"), Confirm: at(addr, "confirm"), Cancel: at(addr, "cancel")}
}

func (d *dtmSystem) submitSaga(ctx context.Context, _, n int, addr string) error {
	return d.client.Saga(ctx, d.submitted(n), steps(addr), orders.Payload, false)
}

// finished asks for one saga after the other and stops at the first that has not
// ended, so that asking costs the server little.
func (d *dtmSystem) finished(ctx context.Context, n int) (int, error) {
	for d.done < n {
		status, err := d.client.Status(ctx, d.submitted(d.done))
		if err != nil {
			return d.done, err
		}
		if status != "succeed" {
			break
		}
		d.done++
	}
	return d.done, nil
}

func (d *dtmSystem) processes() (coordinator, store []int) {
	if d.pid == 0 {
		return nil, nil
	}
	return []int{d.pid}, nil
}

func (d *dtmSystem) stop() error { return nil }
