// Package transfer shows what a transaction promises: money goes from one bank to
// another whole or not at all, also when a bank refuses half-way and when the
// coordinator stops in between. At the end the promises are checked.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// limit is the longest a demonstration takes, whatever goes wrong.
const limit = 30 * time.Second

// errBroken says that a promise was not kept.
var errBroken = errors.New("a promise was not kept")

// show is a running demonstration.
type show struct {
	out    io.Writer
	start  time.Time
	acts   int
	store  driver.Store
	engine *coord.Coordinator
	north  *bank
	south  *bank
	kept   bool
}

// Run tells the story on a new SQLite file, which it removes. It fails when a
// promise was not kept.
func Run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "bedrock-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "demo.db"), nil)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	s := &show{out: out, start: time.Now(), store: store, kept: true}
	s.north = newBank("North", s.tellLine, map[string]int{"ann": 100})
	s.south = newBank("South", s.tellLine, map[string]int{"ben": 100})
	err = s.run(ctx)
	return errors.Join(err, s.stop(), store.Close())
}

func (s *show) run(ctx context.Context) error {
	for _, act := range []func(context.Context) error{s.open, s.succeed, s.failHalfWay, s.interrupt} {
		if err := act(ctx); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	return s.checkSums()
}

// open starts a coordinator on the store.
func (s *show) open(ctx context.Context) error {
	engine, err := coord.New(s.store, &coord.Options{Poll: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	s.engine = engine
	return errors.Join(
		engine.Register("north.withdraw", s.north.debit), engine.Register("north.refund", s.north.refund),
		engine.Register("south.deposit", s.south.deposit), engine.Register("south.take-back", s.south.takeBack),
		engine.Start(ctx),
	)
}

// stop hands over what the coordinator has under way.
func (s *show) stop() error {
	if s.engine == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.engine.Stop(ctx)
}

// newTransfer is the transaction: ten lines a program would have.
func newTransfer(id, to string) *saga.Saga {
	patient := txn.Policy{Backoff: 100 * time.Millisecond, MaxBackoff: 200 * time.Millisecond}
	return saga.New("transfer").ID(id).
		Step("withdraw", "north.withdraw", "north.refund").Payload(order{"ann", 30}).
		Step("deposit", "south.deposit", "south.take-back").Payload(order{to, 30}).Policy(patient)
}

func (s *show) succeed(ctx context.Context) error {
	s.title("Ann, at the North bank, sends 30 to Ben, at the South bank")
	result, err := newTransfer("transfer-1", "ben").Run(ctx, s.engine, nil)
	s.tellLine("outcome: %s", result.Outcome)
	s.balances()
	return err
}

func (s *show) failHalfWay(ctx context.Context) error {
	s.title("She sends 30 to Carl, who has no account: it fails half-way")
	result, err := newTransfer("transfer-2", "carl").Run(ctx, s.engine, nil)
	s.tellLine("outcome: %s, because %s", result.Outcome, result.Reason)
	s.balances()
	_, told := errors.AsType[*txn.RolledBackError](err)
	s.check(told, "a failure is told", "the program got an error that says rolled back, and why")
	s.check(s.north.balance("ann") == 70, "nothing is left half done", "Ann has her 30 again")
	return nil
}

func (s *show) interrupt(ctx context.Context) error {
	s.title("She sends 30 to Ben while the South bank is down, and the coordinator stops")
	s.south.setDown(true)
	if _, err := newTransfer("transfer-3", "ben").Submit(ctx, s.engine, nil); err != nil {
		return err
	}
	if err := s.south.awaitFailures(ctx, 2); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	s.tellLine("the coordinator is stopped; 30 are on their way, and only the record knows")
	s.balances()
	s.south.setDown(false)
	if err := s.open(ctx); err != nil {
		return err
	}
	s.tellLine("another coordinator starts on the same file; the South bank is up again")
	result, err := s.engine.Wait(ctx, "transfer-3")
	s.tellLine("outcome: %s", result.Outcome)
	s.balances()
	s.check(result.Outcome == txn.Committed, "a stop loses nothing", "the other coordinator finished the transfer")
	return err
}

func (s *show) checkSums() error {
	s.check(s.north.balance("ann") == 40 && s.south.balance("ben") == 160, "every transfer counts once",
		"Ann has %d, Ben has %d, however often the banks were called", s.north.balance("ann"), s.south.balance("ben"))
	s.check(s.north.total()+s.south.total() == 200, "no money is lost or made", "200 before, %d after",
		s.north.total()+s.south.total())
	if !s.kept {
		return errBroken
	}
	return nil
}

func (s *show) title(text string) {
	s.acts++
	fmt.Fprintf(s.out, "\n%d. %s\n", s.acts, text)
}

func (s *show) tellLine(text string, args ...any) {
	fmt.Fprintf(s.out, "  %6.3fs  %s\n", time.Since(s.start).Seconds(), fmt.Sprintf(text, args...))
}

func (s *show) balances() {
	s.tellLine("Ann has %d, Ben has %d", s.north.balance("ann"), s.south.balance("ben"))
}

func (s *show) check(kept bool, promise, details string, args ...any) {
	mark := "yes"
	if !kept {
		mark, s.kept = "NO!", false
	}
	fmt.Fprintf(s.out, "  %s  %s: %s\n", mark, promise, fmt.Sprintf(details, args...))
}
