package etcdlock

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// state is what somebody has by a key that is the first of its lock.
type state string

const (
	held   state = "held"   // the lock, since the key was made
	stands state = "stands" // the lock, since it is the first
	waits  state = "waits"  // its turn: nobody else can have the lock, and it asks for it
	taken  state = "taken"  // the lock, since it has asked when it was its turn
)

// next is the state of a reader who waits since somebody writes: it goes before the next writer.
const next state = "next"

// record is what is stored at a key.
type record struct {
	state state
	word  word
	ttl   time.Duration
	since time.Time // when the key was made, by the clock of its client
	// count is how many permits somebody has, or what is left of a latch; limit is how many permits there are.
	count, limit int
	// token is the revision of the grant of who has waited: when it saw that it was the first.
	token int64
	meta  string
}

// word is what sort of a lock a key is about.
type word string

const (
	plain       word = "plain"
	fair        word = "fair"
	reads       word = "reads"
	upgradeable word = "upgradeable"
	writes      word = "writes"
	permits     word = "permits"
	latch       word = "latch"
)

// wordOf returns the word of what is asked for.
func wordOf(req *driver.Request) word {
	switch {
	case req.Mode == driver.Permit:
		return permits
	case req.Mode == driver.Write:
		return writes
	case req.Upgradeable:
		return upgradeable
	case req.Mode == driver.Shared:
		return reads
	case req.Fair:
		return fair
	default:
		return plain
	}
}

// mode returns the mode of who has that.
func (w word) mode() driver.Mode {
	switch w {
	case reads, upgradeable:
		return driver.Shared
	case writes:
		return driver.Write
	case permits:
		return driver.Permit
	default:
		return driver.Exclusive
	}
}

// lockKind returns what the lock is.
func (w word) lockKind() driver.Kind {
	if w == latch {
		return driver.Latch
	}
	return w.mode().Kind()
}

// recordWord is what a record begins with, with its version.
const recordWord = "bedrock/1"

// encode writes a record: one line of words for the machine, and what people store beside a grant.
func (r *record) encode() string {
	head := fmt.Sprintf("%s %s %s %d %d", recordWord, r.state, r.word, r.ttl.Milliseconds(), r.since.UnixMilli())
	if r.count > 0 || r.token > 0 {
		head += fmt.Sprintf(" %d %d", r.count, r.limit)
	}
	if r.token > 0 {
		head += fmt.Sprintf(" %d", r.token)
	}
	return head + "\n" + r.meta
}

// readRecord reads a record. What is none has the lock if it is the first, as a key of an official client has.
func readRecord(text string) (r record, ok bool) {
	head, meta, _ := strings.Cut(text, "\n")
	var version string
	var ttl, since int64
	n, err := fmt.Sscanf(head, "%s %s %s %d %d %d %d %d",
		&version, &r.state, &r.word, &ttl, &since, &r.count, &r.limit, &r.token)
	if n != 8 && (n != 5 && n != 7 || err == nil) {
		return record{state: held}, false
	}
	if version != recordWord || ttl < 0 || ttl > driver.MaxTTL.Milliseconds() {
		return record{state: held}, false
	}
	r.ttl, r.meta = time.Duration(ttl)*time.Millisecond, meta
	if since > 0 {
		r.since = time.UnixMilli(since)
	}
	return r, true
}

// contender is a key of a lock: that of who has it, or waits.
type contender struct {
	record

	key      string
	child    string // the last part of the key
	owner    string
	own      bool  // it is that of a client of this package
	crowd    bool  // it is about a lock that several may have at once, or a latch
	elects   bool  // it is a candidate's
	created  int64 // revision
	modified int64
	lease    clientv3.LeaseID
}

// readContender reads a key of a folder. Of what is further below it reports false: that is another lock's.
func (l layout) readContender(folder string, kv *mvccpb.KeyValue) (c contender, ok bool) {
	key := string(kv.Key)
	child, below := strings.CutPrefix(key, folder)
	if !below || strings.Contains(child, "/") {
		return c, false
	}
	c = contender{
		key: key, child: child, created: kv.CreateRevision, modified: kv.ModRevision, lease: clientv3.LeaseID(kv.Lease),
	}
	c.owner, c.own = ownerOf(child)
	if l.elects {
		c.elects = true
		c.record = readProposal(string(kv.Value), c.own)
		return c, true
	}
	c.record, ok = readRecord(string(kv.Value))
	c.own = c.own && ok
	if owner, known := crowdOwner(child); known && ok && c.word.lockKind() != driver.Mutex {
		c.owner, c.own, c.crowd = owner, true, true
	}
	return c, true
}

// readLine reads the keys of a folder that are in order: those of mutexes, and the others.
func (l layout) readLine(folder string, kvs []*mvccpb.KeyValue) (line []contender, others crowd) {
	for _, kv := range kvs {
		c, ok := l.readContender(folder, kv)
		switch {
		case !ok:
		case c.crowd:
			others = append(others, c)
		default:
			line = append(line, c)
		}
	}
	return line, others
}

// grantedAt returns the revision by which who is the first has the lock, 0 if the store does not tell: one that stands
// is granted it unasked, and only its client knows when that was.
func (c *contender) grantedAt() int64 {
	switch {
	case c.elects, c.own && c.state == held:
		return c.created
	case c.own && c.state == taken:
		return c.token
	default:
		return 0
	}
}

// KeyOfHolder is where the metadata of a holder have the key of etcd by which it has the lock, unless that is one of
// this package's. People are told of owners by a hash alone, which does not say where to look.
const KeyOfHolder = "key"

// shownMeta returns what is told beside who has a lock. What a candidate proposes says who that is.
func (c *contender) shownMeta() string {
	if c.own || c.elects && c.lease != clientv3.NoLease {
		return c.meta
	}
	meta := make(map[string]string)
	maps.Copy(meta, driver.DecodeMeta(c.meta))
	meta[KeyOfHolder] = shownKey(c.key)
	return driver.EncodeMeta(meta)
}

// shownKey writes a key for people: it is whatever bytes somebody has chosen.
func shownKey(key string) string {
	if quoted := strconv.Quote(key); len(quoted) > len(`""`)+len(key) {
		return quoted
	}
	return key
}

// strangersLife is told of the time left of who has a lock by another library, which does not say. Whoever sleeps
// until then hears of its end before.
const strangersLife = 5 * time.Second

// life returns for how long it goes on at most unless it is renewed.
func (c *contender) life() time.Duration {
	if !c.own || c.ttl == 0 {
		return strangersLife
	}
	return max(c.ttl, time.Millisecond)
}
