package coord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// expandTopics replaces a message's topics by their subscribers. If there were any it tells
// which of the former branches each branch is made of.
func (c *Coordinator) expandTopics(ctx context.Context, d *txn.Definition) (given []int, err error) {
	if d.Mode != msg.Name || !slices.ContainsFunc(d.Branches, goesToTopic) {
		return nil, nil
	}
	var all []txn.Branch
	sharePayload(d)
	for i, b := range d.Branches {
		if !goesToTopic(b) {
			all, given = append(all, b), append(given, i)
			continue
		}
		if err := check.Target(b.Confirm); err != nil {
			return nil, &txn.InvalidError{Field: fmt.Sprintf("branches[%d].confirm", i), Problem: err.Error()}
		}
		topic, _ := b.Confirm.Topic()
		receivers, err := subscribersIn(c.load(ctx, topicPrefix+topic))
		if err != nil {
			return nil, err
		}
		if len(receivers) == 0 {
			return nil, input.Errorf(fmt.Sprintf("branches[%d].confirm", i), "topic %q has no subscribers", topic)
		}
		for n, to := range receivers {
			each := b
			each.ID, each.Confirm = subscriberBranchID(b.ID, n+1), to
			all, given = append(all, each), append(given, i)
		}
	}
	d.Branches = all
	return given, nil
}

// sharePayload moves the payload of an only branch to the message, where it is kept once,
// however many subscribers that branch turns into.
func sharePayload(d *txn.Definition) {
	if len(d.Branches) == 1 {
		d.Payload, d.Branches[0].Payload = d.PayloadOf(0), nil
	}
}

// subscriberBranchID is the ID of a subscriber's branch: that of the topic's branch, with a number.
// Where there is no room for the number, a hash replaces the end of the ID.
func subscriberBranchID(id string, n int) string {
	number := "-" + strconv.Itoa(n)
	if len(id)+len(number) <= txn.MaxBranchID || len(id) > txn.MaxBranchID {
		return id + number
	}
	sum := sha256.Sum256([]byte(id))
	end := "-" + hex.EncodeToString(sum[:8]) + number
	return id[:txn.MaxBranchID-len(end)] + end
}

// findSubmitted looks for a message that is refused now, because of its topics, and that
// was accepted earlier, when they had other subscribers.
func (c *Coordinator) findSubmitted(ctx context.Context, d *txn.Definition, refusal error) (string, error) {
	if d.Mode != msg.Name || c.checker.ID(d.ID) != nil || !slices.ContainsFunc(d.Branches, goesToTopic) {
		return "", refusal
	}
	_, digest, err := record.EncodeSpec(d)
	if err != nil {
		return "", refusal
	}
	err = c.compareStored(ctx, &driver.Record{ID: d.ID, Mode: d.Mode, Digest: digest})
	switch {
	case errors.Is(err, errAccepted):
		return d.ID, nil
	case errors.Is(err, driver.ErrNotFound):
		return "", refusal
	default:
		return "", err
	}
}

func goesToTopic(b txn.Branch) bool {
	_, ok := b.Confirm.Topic()
	return ok
}
