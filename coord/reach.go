package coord

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// eachTarget checks the targets of a definition, from one of its branches on, and names
// the field of the first that is refused.
func eachTarget(d *txn.Definition, from int, check func(txn.Target) error) error {
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
				return &txn.FieldError{Field: fmt.Sprintf("branches[%d].%s", i, t.field), Problem: err.Error()}
			}
		}
	}
	if d.Check == nil {
		return nil
	}
	if err := check(d.Check.Target); err != nil {
		return &txn.FieldError{Field: "check.target", Problem: err.Error()}
	}
	return nil
}

// checkTarget refuses what could never be called from here.
func (c *Coordinator) checkTarget(t txn.Target) error {
	scheme, rest := plan.Scheme(t)
	switch scheme {
	case "":
		return nil
	case "async":
		if isTopic(txn.Target(rest)) { // for the message that delivers it
			return nil
		}
		return c.checkTarget(txn.Target(rest))
	case topicMode:
		return errors.New("only a message can be delivered to a topic")
	}
	caller, ok := c.opts.Callers[scheme]
	if !ok {
		return lacksScheme(scheme)
	}
	return caller.Check(t)
}

func lacksScheme(scheme string) error {
	return fmt.Errorf("this coordinator does not call %s targets", scheme)
}

// registered refuses functions that nobody has registered here. Only what somebody asks
// for is looked at: what was accepted once is carried out, wherever its functions are.
func (c *Coordinator) registered(d *txn.Definition, from int) error {
	return eachTarget(d, from, c.checkFunction)
}

func (c *Coordinator) checkFunction(t txn.Target) error {
	scheme, rest := plan.Scheme(t)
	switch {
	case scheme == "async":
		return c.checkFunction(txn.Target(rest))
	case scheme != "" || t == "" || c.opts.Elsewhere:
		return nil
	default:
		return c.names.check(rest)
	}
}

// lacks says why this coordinator cannot call a target at all, though others may.
func (c *Coordinator) lacks(t txn.Target) error {
	scheme, name := plan.Scheme(t)
	switch scheme {
	case "":
		if _, ok := c.names.get(name); !ok {
			return errors.New("no function of this name is registered at " + c.opts.Replica)
		}
	case "async":
	default:
		if _, ok := c.opts.Callers[scheme]; !ok {
			return lacksScheme(scheme)
		}
	}
	return nil
}
