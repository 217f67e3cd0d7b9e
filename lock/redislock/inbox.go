package redislock

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// inbox is a client's channel: what it is granted unasked, what others want of its grants, and what they have done to
// them. It is this client's own, or that of one it acts for: see attend.go. Guarded by hub.mu.
type inbox struct {
	hub     *hub
	heirs   *heirs // nil where no lock is passed on
	note    func(driver.Message)
	give    func(driver.Grant)    // of fair locks
	inLine  map[string]string     // names, by the owners of this client who may be given them
	waiters atomic.Int32          // how many those are
	client  string                // the first part of the owners it is for, with its colon; set before current
	current atomic.Pointer[topic] // nil before somebody has a lock, or waits for one
	retry   time.Time             // when to listen again after that could not be done
	awaits  bool                  // a message that should be here by now
	shared  bool                  // it is for one of many clients, who attends
	asked   bool                  // it is this client's own, which is told of more than grants
	retired atomic.Bool           // it was the client's own, but this one acts for many
}

var _ ear = (*inbox)(nil)

const (
	clientChannel = "bedrock_client:"
	clientLen     = 18              // of an owner, of which so much names its client in channels and lines
	listenAgain   = 5 * time.Second // after the channel could not be had
	silence       = time.Second     // after which a connection is given up that has not brought what it should
)

func newInbox(h *hub) *inbox {
	return &inbox{hub: h, note: func(driver.Message) {}, give: func(driver.Grant) {}, inLine: make(map[string]string)}
}

// Notify implements [driver.Notifier].
func (b *backend) Notify(tell func(driver.Message)) {
	if b.inbox != nil {
		b.inbox.note, b.inbox.asked = tell, true
	}
}

// attend begins to listen for what is told to the client of an owner, unless it does.
func (i *inbox) attend(owner string) {
	if i == nil || i.isOpen() || i.retired.Load() {
		return
	}
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	now := time.Now()
	if i.hub.closed || i.isOpen() || i.retired.Load() || now.Before(i.retry) || !looksLikeOwner(owner) {
		return
	}
	if i.client == "" {
		i.client = owner[:strings.IndexByte(owner, ':')+1]
	}
	if !strings.HasPrefix(owner, i.client) {
		return
	}
	i.retry = now.Add(listenAgain)
	t, _ := i.hub.addEar(i, clientChannel+i.client[:clientLen], false)
	i.current.Store(t)
}

// isOpen reports whether there is a topic for it, subscribed or about to be.
func (i *inbox) isOpen() bool {
	t := i.current.Load()
	return t != nil && !t.down.Load()
}

// attends reports whether what an owner is told is heard at this moment.
func (i *inbox) attends(owner string) bool {
	if i == nil {
		return false
	}
	t := i.current.Load()
	return t != nil && t.up.Load() && strings.HasPrefix(owner, i.client)
}

// hear implements ear.
func (i *inbox) hear(_ *topic, text string) {
	i.awaits = false
	what, rest, _ := strings.Cut(text, " ")
	kind := driver.Taken
	switch what {
	case "granted":
		if i.isFirst() {
			i.heirs.hearGrant(i, text)
		}
		return
	case givenFirstWord:
		if i.isFirst() {
			i.hearGiven(rest)
		}
		return
	case askedFirstWord:
		i.hearAsked(rest)
		return
	case "wanted":
		kind = driver.Wanted
	case "taken":
	default:
		return
	}
	if number, name, ok := strings.Cut(rest, " "); ok {
		i.note(driver.Message{Name: name, Owner: i.client + number, Kind: kind})
	}
}

// miss implements ear: those who stand ask.
func (i *inbox) miss() {
	i.heirs.missGrants(i)
	for owner, name := range i.inLine {
		i.give(driver.Grant{Name: name, Owner: owner})
	}
	i.note(driver.Message{Kind: driver.Missed})
}

// awaitMessage gives the connection some time to bring anything: a grant was found by asking, of which a message
// should have told. A connection can be open, so that the server counts it, and bring nothing.
func (i *inbox) awaitMessage() {
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	if !i.awaits {
		i.awaits = true
		time.AfterFunc(silence, i.giveUpSilent)
	}
}

// giveUpSilent gives the connection up, if it has brought nothing. Its topics find another.
func (i *inbox) giveUpSilent() {
	i.hub.mu.Lock()
	silent, t := i.awaits, i.current.Load()
	i.awaits = false
	if !silent || i.hub.closed || t == nil || t.line == nil || !t.subscribed {
		i.hub.mu.Unlock()
		return
	}
	l := t.line
	i.hub.mu.Unlock()
	l.takeDown()
}

// lingerWord asks in the words of acquire.lua for a grant that may linger, if its client hears when somebody
// wants it; else it is empty.
func (b *backend) lingerWord(req *driver.Request) string {
	if req.Linger <= 0 || !b.inbox.attends(req.Owner) {
		return ""
	}
	return "~" + milliseconds(req.Linger) + " "
}

// inboxOf returns where this backend hears at this moment what an owner is told; nil if it does not.
func (b *backend) inboxOf(owner string) *inbox {
	if b.inbox.attends(owner) {
		return b.inbox
	}
	return b.hub.attendantOf(owner)
}

// findings tries out whether this user may listen for what clients are told.
func (i *inbox) findings(ctx context.Context) []driver.Finding {
	if i == nil {
		return nil
	}
	channel := clientChannel + "check"
	w, err := i.hub.watchChannel(ctx, channel, false)
	if err == nil {
		w.Close()
		return nil
	}
	return []driver.Finding{{
		Level: driver.Notice, What: "channel " + channel + ": " + err.Error(),
		Means: "if the user may not subscribe to " + clientChannel + "*, no lock is passed on or lingers, " +
			"who loses one by force hears of it at the next renewal, and nobody is asked for one",
	}}
}
