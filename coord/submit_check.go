package coord

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// check refuses a definition before anything happens.
func (c *Coordinator) check(checker *check.Checker, d *txn.Definition, begun bool) (txn.Status, error) {
	mode, ok := c.modes[d.Mode]
	if !ok {
		return "", modes.Unknown(d.Mode)
	}
	if err := checker.Definition(d); err != nil {
		return "", err
	}
	status, err := startStatus(mode, d, begun)
	if err != nil {
		return "", err
	}
	if err := cmp.Or(mode.Check(d), startable(status, d)); err != nil {
		return "", err
	}
	if status == txn.Open && d.Timeout == 0 && d.Check == nil {
		d.Timeout = openTimeout
	}
	return status, eachTarget(d, 0, c.checkTarget)
}

// startStatus is the status a transaction begins in, if its mode has such a beginning.
func startStatus(mode txn.Mode, d *txn.Definition, begun bool) (txn.Status, error) {
	status, ok := mode.Start(begun)
	switch {
	case !ok && begun:
		return "", &txn.InvalidError{Field: "mode", Problem: d.Mode + " cannot be begun and completed later; submit it"}
	case !ok:
		return "", &txn.InvalidError{Field: "mode", Problem: d.Mode + " cannot be submitted; begin it"}
	}
	return status, nil
}

// startable refuses what makes no sense in a transaction that begins so.
func startable(status txn.Status, d *txn.Definition) error {
	switch {
	case status == txn.Running && len(d.Branches) == 0:
		return &txn.InvalidError{Field: "branches", Problem: "there are none"}
	case status != txn.Open:
		return nil
	}
	if i := slices.IndexFunc(d.Branches, func(b txn.Branch) bool { return b.Do != "" }); i >= 0 {
		return &txn.InvalidError{
			Field:   fmt.Sprintf("branches[%d].do", i),
			Problem: "is never called: what goes forward in a transaction that was begun is its caller's to do",
		}
	}
	return nil
}

// eachTarget checks the targets of a definition, from one of its branches on, and names
// the fields of those that are refused.
func eachTarget(d *txn.Definition, from int, check func(txn.Target) error) error {
	var wrong wrongTargets
	for i := from; i < len(d.Branches); i++ {
		b := &d.Branches[i]
		hook := txn.Target("")
		if b.Policy != nil {
			hook = b.Policy.Hook
		}
		for _, t := range [...]struct {
			field string
			to    txn.Target
		}{{"do", b.Do}, {"confirm", b.Confirm}, {"undo", b.Undo}, {"policy.hook", hook}} {
			if err := check(t.to); err != nil {
				wrong.add(fmt.Sprintf("branches[%d].%s", i, t.field), err)
			}
		}
	}
	if d.Check != nil {
		if err := check(d.Check.Target); err != nil {
			wrong.add("check.target", err)
		}
	}
	return wrong.err()
}

// wrongTargets are the targets of a definition that are refused.
type wrongTargets struct{ told []*txn.InvalidError }

func (w *wrongTargets) add(field string, err error) {
	if len(w.told) < input.Most {
		w.told = append(w.told, &txn.InvalidError{Field: field, Problem: err.Error()})
	}
}

// err is the error of a definition that has them; nil if it has none.
func (w *wrongTargets) err() error {
	if len(w.told) == 0 {
		return nil
	}
	return &targetError{input.Join(w.told)}
}

// targetError tells that nothing else is wrong with a definition than who is called.
type targetError struct{ error }

// Unwrap gives what is wrong.
func (e *targetError) Unwrap() error { return e.error }

// withFunctions adds functions that are not registered to the targets that are refused: who
// mends those would be told of the functions only then.
func (c *Coordinator) withFunctions(d *txn.Definition, err error) error {
	if _, ok := errors.AsType[*targetError](err); !ok {
		return err
	}
	return input.Join(append(input.All(err), input.All(c.checkFunctions(d, 0))...))
}

// checkTarget refuses what could never be called from here.
func (c *Coordinator) checkTarget(t txn.Target) error {
	switch scheme := t.Scheme(); scheme {
	case "":
		return nil
	case txn.SchemeAsync:
		to, _ := t.Async()
		if _, topic := to.Topic(); topic { // expanded by the message that this becomes
			return nil
		}
		return c.checkTarget(to)
	case txn.SchemeTopic:
		return errors.New("only a message can be delivered to a topic")
	default:
		if err := c.checkScheme(scheme); err != nil {
			return err
		}
		return c.callers[scheme].Check(t)
	}
}

// checkFunctions refuses functions that nobody has registered here. Only what a caller
// submits is checked: what was accepted once is carried out, wherever its functions are.
func (c *Coordinator) checkFunctions(d *txn.Definition, from int) error {
	return eachTarget(d, from, c.checkFunction)
}

func (c *Coordinator) checkFunction(t txn.Target) error {
	if to, async := t.Async(); async {
		return c.checkFunction(to)
	}
	if t.Scheme() != "" || t == "" || c.opts.Elsewhere {
		return nil
	}
	return c.names.check(string(t))
}
