package coord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/plan"
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
			return nil, &txn.FieldError{Field: "topic", Problem: fmt.Sprintf("%s has %d subscribers already, the most there can be", topic, len(all))}
		}
		return append(all, subscriber), c.sendable(append(all, subscriber))
	})
}

// sendable refuses subscribers of which no message could be made.
func (c *Coordinator) sendable(all []txn.Target) error {
	d := txn.Definition{Mode: msg.Name, Branches: make([]txn.Branch, len(all))}
	for i, to := range all {
		d.Branches[i] = txn.Branch{ID: numbered(strings.Repeat("x", txn.MaxBranchID), i+1), Confirm: to}
	}
	if err := c.checker.Definition(&d); err != nil {
		return &txn.FieldError{Field: "topic", Problem: "would have more subscribers than a message can: " + err.Error()}
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
	return subscribersIn(c.store.Load(ctx, topicPrefix+topic))
}

// subscribersIn are those of a topic that was looked for; nobody has subscribed to one
// that is not there.
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
	err := plan.CheckTarget(t)
	if err == nil && isTopic(txn.Target(strings.TrimPrefix(string(t), "async:"))) {
		err = errors.New("a topic cannot subscribe to a topic")
	}
	if err == nil {
		err = c.checkTarget(t)
	}
	if err == nil {
		err = c.checkFunction(t)
	}
	if err != nil {
		return &txn.FieldError{Field: "subscriber", Problem: err.Error()}
	}
	return nil
}

// changeTopic rewrites a topic on condition that nobody else has, again until it is
// known what became of it. What f makes of a topic it has changed before is the same.
func (c *Coordinator) changeTopic(ctx context.Context, topic string, f func([]txn.Target) ([]txn.Target, error)) error {
	if err := c.ready(); err != nil {
		return err
	}
	if plan.CheckTarget(txn.Target("topic:"+topic)) != nil {
		return &txn.FieldError{Field: "topic", Problem: fmt.Sprintf("%q: want 1 to 128 letters, digits and . _ - /", excerpt(topic))}
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
			return inDoubt(id, doubt, &txn.FieldError{Field: "topic", Problem: err.Error()})
		}
		overtaken := errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrExists)
		doubt = doubt || !overtaken
		if !sleep(ctx, c.life, wait) {
			return inDoubt(id, doubt, fmt.Errorf("%w: %w", cmp.Or(ctx.Err(), txn.ErrClosed), err))
		}
	}
}

// changedTopic is the record to write; nil if there is nothing to change.
func (c *Coordinator) changedTopic(ctx context.Context, topic string, f func([]txn.Target) ([]txn.Target, error)) (*driver.Record, error) {
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
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if rec.Revision == 0 {
		rec.Revision = 1
		return c.trouble.saw(ctx, toWrite, c.store.Create(bounded, rec))
	}
	return c.trouble.saw(ctx, toWrite, c.store.Update(bounded, rec.Version(), rec))
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

// expand replaces a message's topics by their subscribers. It tells whether there
// were any.
func (c *Coordinator) expand(ctx context.Context, d *txn.Definition) (bool, error) {
	if d.Mode != msg.Name || !slices.ContainsFunc(d.Branches, toTopic) {
		return false, nil
	}
	var all []txn.Branch
	shareAlone(d)
	for i, b := range d.Branches {
		if !toTopic(b) {
			all = append(all, b)
			continue
		}
		if err := plan.CheckTarget(b.Confirm); err != nil {
			return false, &txn.FieldError{Field: fmt.Sprintf("branches[%d].confirm", i), Problem: err.Error()}
		}
		_, topic := plan.Scheme(b.Confirm)
		receivers, err := subscribersIn(c.load(ctx, topicPrefix+topic))
		if err != nil {
			return false, err
		}
		if len(receivers) == 0 {
			return false, &txn.FieldError{Field: fmt.Sprintf("branches[%d].confirm", i), Problem: fmt.Sprintf("topic %q has no subscribers", topic)}
		}
		for n, to := range receivers {
			each := b
			each.ID, each.Confirm = numbered(b.ID, n+1), to
			all = append(all, each)
		}
	}
	d.Branches = all
	return true, nil
}

// shareAlone gives the payload of the only branch to the message, where it is kept once,
// however many receivers that branch turns into.
func shareAlone(d *txn.Definition) {
	if len(d.Branches) == 1 {
		d.Payload, d.Branches[0].Payload = d.PayloadOf(0), nil
	}
}

// numbered is the ID of a subscriber's branch. One that leaves no room for the number
// gives its end for what tells it from others.
func numbered(id string, n int) string {
	number := "-" + strconv.Itoa(n)
	if len(id)+len(number) <= txn.MaxBranchID || len(id) > txn.MaxBranchID {
		return id + number
	}
	sum := sha256.Sum256([]byte(id))
	end := "-" + hex.EncodeToString(sum[:8]) + number
	return id[:txn.MaxBranchID-len(end)] + end
}

// sentBefore finds a message again that was accepted when its topics had other
// subscribers than those for which it is refused now.
func (c *Coordinator) sentBefore(ctx context.Context, d *txn.Definition, refusal error) (string, error) {
	if d.Mode != msg.Name || c.checker.ID(d.ID) != nil || !slices.ContainsFunc(d.Branches, toTopic) {
		return "", refusal
	}
	_, digest, err := encodeSpec(d)
	if err != nil {
		return "", refusal
	}
	err = c.accepted(ctx, &driver.Record{ID: d.ID, Mode: d.Mode, Digest: digest})
	switch {
	case errors.Is(err, errAccepted):
		return d.ID, nil
	case errors.Is(err, driver.ErrNotFound):
		return "", refusal
	default:
		return "", err
	}
}

func toTopic(b txn.Branch) bool { return isTopic(b.Confirm) }

func isTopic(t txn.Target) bool {
	scheme, _ := plan.Scheme(t)
	return scheme == topicMode
}
