package msg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/internal/draft"
)

// Message is a message being written, and then sent, any number of times. Once it
// is written, many goroutines may send it at once. Mistakes made while writing are
// reported by Definition, Send, Prepare and Do before anything happens.
type Message struct{ draft draft.Draft }

// New begins a message. The name is for people and metrics, such as "order-paid".
func New(name string) *Message {
	return &Message{draft: draft.New(Mode{}, name)}
}

// To adds a receiver. All receivers are called independently of one another, each
// until it has taken the message.
func (m *Message) To(id string, receiver txn.Target) *Message {
	m.draft.Add(txn.Branch{ID: id, Confirm: receiver})
	return m
}

// Topic adds the subscribers that a topic has when the message is sent or prepared. With none the
// message is refused.
func (m *Message) Topic(name string) *Message {
	return m.To(topicBranch(name), txn.Topic(name))
}

// topicBranch is the ID of a topic's branch. It leaves room for a number per subscriber;
// the end of a long name is replaced by what tells it from others.
func topicBranch(name string) string {
	most := txn.MaxBranchID - len("-") - len(strconv.Itoa(txn.MaxSubscribers))
	id := "topic/" + strings.ReplaceAll(name, ".", "-")
	if len(id) <= most {
		return id
	}
	sum := sha256.Sum256([]byte(name))
	end := "-" + hex.EncodeToString(sum[:8])
	return id[:most-len(end)] + end
}

// Payload is the body of the latest receiver's calls, instead of the message's.
func (m *Message) Payload(v any) *Message {
	m.draft.Payload(v)
	return m
}

// Policy says how the latest receiver is called: how long, how often, and what
// then.
func (m *Message) Policy(p txn.Policy) *Message {
	m.draft.Policy(p)
	return m
}

// Delay holds the message back after it was sent or submitted.
func (m *Message) Delay(d time.Duration) *Message {
	m.draft.Head.Delay = d
	return m
}

// Check names who is asked whether the local transaction was committed, when the
// producer of a prepared message is not heard of: it answers done, or refuses.
// After says how long to wait before (0: 10 s), policy how to ask (nil: the
// defaults).
func (m *Message) Check(producer txn.Target, after time.Duration, policy *txn.Policy) *Message {
	check := &txn.Check{Target: producer, After: after}
	if policy != nil {
		own := *policy
		check.Policy = &own
	}
	m.draft.Head.Check = check
	return m
}

// Timeout drops a prepared message without a check that was not submitted by then.
func (m *Message) Timeout(d time.Duration) *Message {
	m.draft.Head.Timeout = d
	return m
}

// Parallel bounds how many receivers are called at once. Default 16.
func (m *Message) Parallel(n int) *Message {
	m.draft.Head.Parallel = n
	return m
}

// Header adds a header to all calls.
func (m *Message) Header(name, value string) *Message {
	m.draft.Header(name, value)
	return m
}

// ID is the same message under an ID of the caller's choice, which makes it safe to
// send it twice. The message itself is not changed.
func (m *Message) ID(id string) *Message { return &Message{draft: m.draft.WithID(id)} }

// Definition is the message in the words of package txn. The payload goes to all
// receivers that have none of their own: JSON of any value, or bytes as they are.
func (m *Message) Definition(payload any) (txn.Definition, error) {
	return m.draft.Definition(payload)
}

// Send hands the message over and returns its ID. It is delivered from now on, so
// nothing may depend on a local transaction that is still open; see Do. Its Check and
// Timeout are for messages that are prepared, and are not looked at.
func (m *Message) Send(ctx context.Context, co txn.Coordinator, payload any) (string, error) {
	d, err := m.Definition(payload)
	if err != nil {
		return "", err
	}
	// Neither has a meaning once the message is decided, and a check is asked for by
	// messages that are sent both ways.
	d.Check, d.Timeout = nil, 0
	id, err := co.Submit(ctx, d)
	return id, m.draft.InWords(err)
}
