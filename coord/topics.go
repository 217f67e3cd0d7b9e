package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// A topic is a record of its own mode that is kept and never due, so that any store can
// hold it and concurrent changes meet a condition. Its ID contains a slash,
// which no transaction's may.
const (
	topicMode   = "topic"
	topicPrefix = "topic/"
)

// Subscribe adds a receiver to a topic. It may be repeated. *txn.InDoubtError says that
// nobody knows whether it was added.
func (c *Coordinator) Subscribe(ctx context.Context, topic string, subscriber txn.Target) error {
	if err := c.checkSubscriber(subscriber); err != nil {
		return err
	}
	return c.changeTopic(ctx, topic, func(all []txn.Target) ([]txn.Target, error) {
		switch {
		case slices.Contains(all, subscriber):
			return all, nil
		case len(all) >= txn.MaxSubscribers:
			return nil, input.Errorf("topic", "%s has %d subscribers already, the most there can be", topic, len(all))
		}
		return append(all, subscriber), c.checkSendable(append(all, subscriber))
	})
}

// checkSendable refuses subscribers if a message to all of them would be refused.
func (c *Coordinator) checkSendable(all []txn.Target) error {
	d := txn.Definition{Mode: msg.Name, Branches: make([]txn.Branch, len(all))}
	for i, to := range all {
		d.Branches[i] = txn.Branch{ID: subscriberBranchID(strings.Repeat("x", txn.MaxBranchID), i+1), Confirm: to}
	}
	if err := c.checker.Definition(&d); err != nil {
		return &txn.InvalidError{
			Field: "topic", Problem: "would have more subscribers than a message can: " + err.Error(),
		}
	}
	return nil
}

// Unsubscribe takes a receiver from a topic. Messages submitted before still reach
// it. *txn.InDoubtError says that nobody knows whether it was taken out.
func (c *Coordinator) Unsubscribe(ctx context.Context, topic string, subscriber txn.Target) error {
	return c.changeTopic(ctx, topic, func(all []txn.Target) ([]txn.Target, error) {
		return slices.DeleteFunc(all, func(t txn.Target) bool { return t == subscriber }), nil
	})
}

// Subscribers lists the receivers of a topic.
func (c *Coordinator) Subscribers(ctx context.Context, topic string) ([]txn.Target, error) {
	if err := cmp.Or(checkContext(ctx), checkTopic(topic)); err != nil {
		return nil, err
	}
	return subscribersIn(c.loadOnce(ctx, topicPrefix+topic))
}

// subscribersIn returns the subscribers in the record of a topic, as Load returned it. A
// topic without a record has none.
func subscribersIn(rec *driver.Record, err error) ([]txn.Target, error) {
	if errors.Is(err, driver.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return subscribers(rec)
}

func (c *Coordinator) checkSubscriber(t txn.Target) error {
	err := check.Target(t)
	if err == nil {
		err = checkNoTopic(t)
	}
	if err == nil {
		err = c.checkTarget(t)
	}
	if err == nil {
		err = c.checkFunction(t)
	}
	if err != nil {
		return &txn.InvalidError{Field: "subscriber", Problem: err.Error()}
	}
	return nil
}

func checkNoTopic(t txn.Target) error {
	if to, async := t.Async(); async {
		t = to
	}
	if _, topic := t.Topic(); topic {
		return errors.New("a topic cannot subscribe to a topic")
	}
	return nil
}

// checkTopic refuses what cannot name a topic: not every database takes it, even in a query.
func checkTopic(name string) error {
	if check.Target(txn.Topic(name)) != nil {
		return input.Errorf("topic", "%q: want 1 to 128 letters, digits and . _ - /", excerpt(name))
	}
	return nil
}

// changeTopic rewrites a topic on condition that nobody else has, and repeats that until it
// is known what became of it. f must leave a topic alone that it has changed before.
func (c *Coordinator) changeTopic(ctx context.Context, topic string, f func([]txn.Target) ([]txn.Target, error)) error {
	if err := c.checkRunning(ctx); err != nil {
		return err
	}
	if err := checkTopic(topic); err != nil {
		return err
	}
	id, doubt := topicPrefix+topic, false
	for wait := firstWait; ; wait = longer(wait) {
		rec, err := c.changedTopic(ctx, topic, f)
		if err != nil || rec == nil {
			return inDoubt(id, doubt, err)
		}
		switch err = c.writeTopic(ctx, rec); {
		case err == nil:
			return nil
		case errors.Is(err, driver.ErrRefused):
			return inDoubt(id, doubt, &txn.InvalidError{Field: "topic", Problem: err.Error()})
		}
		overtaken := errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrExists)
		doubt = doubt || !overtaken
		if !sleep.ForBoth(ctx, c.life, wait) {
			return inDoubt(id, doubt, fmt.Errorf("%w: %w", cmp.Or(ctx.Err(), txn.ErrClosed), err))
		}
	}
}

// changedTopic is the record to write; nil if there is nothing to change.
func (c *Coordinator) changedTopic(
	ctx context.Context, topic string, f func([]txn.Target) ([]txn.Target, error),
) (*driver.Record, error) {
	rec, err := c.load(ctx, topicPrefix+topic)
	if errors.Is(err, driver.ErrNotFound) {
		now := c.clock.now()
		rec, err = &driver.Record{
			ID: topicPrefix + topic, Mode: topicMode, Name: topic, Epoch: 1,
			Created: now, Updated: now, State: []byte("{}"),
		}, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := subscribers(rec)
	if err != nil {
		return nil, err
	}
	changed, err := f(slices.Clone(all))
	if err != nil || slices.Equal(changed, all) {
		return nil, err
	}
	rec.Status = driver.Kept
	rec.Spec, err = json.Marshal(changed)
	return rec, err
}

// writeTopic makes one attempt. A record that was never written has no revision yet.
func (c *Coordinator) writeTopic(ctx context.Context, rec *driver.Record) error {
	if rec.Revision == 0 {
		rec.Revision = 1
		return c.createOnce(ctx, rec)
	}
	return c.update(ctx, rec.Version(), rec)
}

func subscribers(rec *driver.Record) ([]txn.Target, error) {
	var all []txn.Target
	if len(rec.Spec) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(rec.Spec, &all); err != nil {
		return nil, fmt.Errorf("topic %s: %w", rec.Name, err)
	}
	return all, nil
}
