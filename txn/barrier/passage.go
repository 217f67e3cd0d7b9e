package barrier

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bedrock-go/bedrock/txn"
)

// passage is one call on its way through the barrier.
type passage struct {
	call txn.Call
	ran  bool // its work was run
}

func (p *passage) wrap(doing string, err error) error {
	return fmt.Errorf("barrier: %s: %s: %w", name(p.call), doing, err)
}

// name is how errors call a call.
func name(call txn.Call) string {
	return fmt.Sprintf("%s of branch %q of transaction %q", call.Op, call.Branch, call.Transaction)
}

// pass asks the marks, runs the work if it may run, and keeps its result.
func (b *Barrier) pass(
	ctx context.Context, tx Tx, p *passage, work func(context.Context) ([]byte, error),
) ([]byte, Verdict, error) {
	own := b.layout.mark(p.call)
	v, first, err := b.setMarks(ctx, tx, own)
	if err != nil {
		return nil, Undecided, p.wrap("enter", err)
	}
	if v != Ran {
		return answerUnrun(p.call, v, first)
	}
	p.ran = true
	result, err := work(txn.ContextWithCall(ctx, p.call))
	switch {
	case txn.Aborted(err):
		return nil, Refused, err
	case err != nil:
		return nil, Undecided, err // the participant's own word, for the coordinator
	}
	if err := b.layout.addResult(ctx, tx, own, result); err != nil {
		return nil, Undecided, p.wrap("keep result", err)
	}
	return result, Ran, nil
}

// answerUnrun is what the coordinator is told when no work was run.
func answerUnrun(call txn.Call, v Verdict, first mark) ([]byte, Verdict, error) {
	switch v {
	case Duplicate:
		return first.result, v, nil
	case Refused:
		return nil, v, txn.Abort(errors.New(string(first.result)))
	case Hanging:
		return nil, v, txn.Abort(fmt.Errorf("%s: %w", name(call), ErrHanging))
	default:
		return nil, v, nil
	}
}

// setMarks sets the call's marks. The first statement is the insertion of the mark
// that going forward and going back have in common: the unique key makes one wait
// for the other's transaction, and whoever is first wins.
func (b *Barrier) setMarks(ctx context.Context, tx Tx, own mark) (Verdict, mark, error) {
	origin, back := b.layout.originMark(own)
	if back {
		empty, err := b.layout.insert(ctx, tx, origin)
		if err != nil {
			return Undecided, mark{}, err
		}
		if empty {
			return EmptyCompensation, mark{}, b.leaveBoth(ctx, tx, own)
		}
	}
	v, first, err := b.setOwnMark(ctx, tx, own)
	if err != nil || v != Ran || !back {
		return v, first, err
	}
	v, err = b.takeBack(ctx, tx, origin)
	return v, mark{}, err
}

// leaveBoth adds to the mark of an empty compensation one in its own name, where
// the layout wants that. Bedrock's does not: on MySQL, the forward call waiting for
// the first mark keeps the place of the second, and one of the two has to die.
func (b *Barrier) leaveBoth(ctx context.Context, tx Tx, own mark) error {
	if !b.layout.bothMarks {
		return nil
	}
	_, err := b.layout.insert(ctx, tx, own)
	return err
}

// setOwnMark sets the call's own mark, or finds out why there is one.
func (b *Barrier) setOwnMark(ctx context.Context, tx Tx, own mark) (Verdict, mark, error) {
	fresh, err := b.layout.insert(ctx, tx, own)
	if err != nil || fresh {
		return Ran, mark{}, err
	}
	for {
		found, err := b.layout.read(ctx, tx, own.key)
		switch {
		case err != nil:
			return Undecided, mark{}, err
		case found.cause == own.cause:
			v, err := b.repeated(ctx, tx, found)
			return v, found, err
		case found.cause != causeRefused:
			return Hanging, found, nil
		case !own.younger(found):
			return Refused, found, nil
		}
		// The coordinator calls again although it was refused: it never heard of that,
		// or a person has seen to the reason.
		if taken, err := b.layout.retake(ctx, tx, own); err != nil || taken {
			return Ran, mark{}, err
		}
	}
}

// repeated is the verdict on a call whose work was done before: the same answer again,
// but never that it is done when it was taken back since.
func (b *Barrier) repeated(ctx context.Context, tx Tx, done mark) (Verdict, error) {
	for back, origin := range b.layout.origins {
		if origin != done.op {
			continue
		}
		cause, err := b.layout.cause(ctx, tx, key{done.transaction, done.branch, back})
		switch {
		case err != nil:
			return Undecided, err
		case cause == back:
			return Hanging, nil
		}
	}
	return Duplicate, nil
}

// takeBack reports whether there is something to take back. A refusal has done
// nothing, and its mark is taken over so that it stays so.
func (b *Barrier) takeBack(ctx context.Context, tx Tx, origin mark) (Verdict, error) {
	origin.epoch = math.MaxInt64
	for {
		found, err := b.layout.read(ctx, tx, origin.key)
		if err != nil {
			return Undecided, err
		}
		switch found.cause {
		case causeRefused:
		case origin.cause:
			return EmptyCompensation, nil // so an earlier delivery has found
		default:
			return Ran, nil
		}
		if taken, err := b.layout.retake(ctx, tx, origin); err != nil || taken {
			return EmptyCompensation, err
		}
	}
}
