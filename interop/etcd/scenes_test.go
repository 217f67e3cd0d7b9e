package etcd_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// object is what both sides have.
type object struct {
	name    string // a row of the matrix: how the other side has it
	slug    string // begins the names of its locks
	ours    string // how this program has it as a process of its own
	profile etcdlock.Profile
	life    time.Duration // of the other side's leases
}

func objects() []object {
	return []object{
		{name: "etcdctl lock", slug: "ctlLock", ours: ourMutex, profile: etcdlock.Compatible, life: ttl},
		{name: officialMutex, slug: "mutex", ours: ourMutex, profile: etcdlock.Compatible, life: ttl},
		{name: "etcdctl elect", slug: "ctlElect", ours: ourElection, profile: etcdlock.Elections, life: time.Minute},
		{name: officialElection, slug: "election", ours: ourElection, profile: etcdlock.Elections, life: ttl},
	}
}

// scenes are what is played, by their names.
func scenes() map[string]func(*together) {
	all := make(map[string]func(*together))
	for _, o := range objects() {
		all[o.slug+"IsExcluded"] = o.exclude
		all[o.slug+"WakesUs"] = o.wakeUs
		all[o.slug+"IsWoken"] = o.wakeThem
		all[o.slug+"Dies"] = o.killThem
		all[o.slug+"OutlivesUs"] = o.killUs
		all[o.slug+"IsOneLine"] = o.oneLine
		all[o.slug+"RaisesTokens"] = o.raiseTokens
		all[o.slug+"IsInspected"] = o.inspect
	}
	return all
}

// hold is what our side has: a lock, or a term.
type hold interface {
	Token() uint64
	Owner() string
}

// take has it, by one of our clients, until it is given back.
func (o *object) take(ctx context.Context, locks *lock.Client, name string) (hold, func(context.Context) error, error) {
	if o.profile == etcdlock.Elections {
		term, err := newElection(locks, name).Campaign(ctx)
		if err != nil {
			return nil, nil, err
		}
		return term, term.Resign, nil
	}
	lease, err := locks.Mutex(name, &lock.MutexOptions{Wait: peer.Patience}).Lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	return lease, lease.Unlock, nil
}

// mustTake has it soon.
func (o *object) mustTake(e *together, locks *lock.Client, name string) (hold, func()) {
	e.Helper()
	h, release, err := o.take(e.Context(), locks, name)
	if err != nil {
		e.Fatal(err)
	}
	return h, func() {
		e.Helper()
		if err := release(e.Context()); err != nil {
			e.Fatal(err)
		}
	}
}

// taken is what somebody of our side has got who has waited.
type taken struct {
	hold    hold
	release func(context.Context) error
	err     error
	at      time.Time
}

// beginTaking waits for it, and returns where it comes.
func (o *object) beginTaking(e *together, locks *lock.Client, name string) <-chan taken {
	got := make(chan taken, 1)
	go func() {
		h, release, err := o.take(e.Context(), locks, name)
		got <- taken{h, release, err, time.Now()}
	}()
	return got
}

// receive takes what has come.
func (t taken) receive(e *together) hold {
	e.Helper()
	if t.err != nil {
		e.Fatal(t.err)
	}
	return t.hold
}

func (t taken) giveBack(e *together) {
	e.Helper()
	if err := t.release(e.Context()); err != nil {
		e.Fatal(err)
	}
}

// exclude shows that each is refused what the other has.
func (o *object) exclude(e *together) {
	name, locks := o.slug+"-excluded", e.ours[o.profile]
	for range rounds {
		_, release := o.mustTake(e, locks, name)
		they := e.startAs(o.name, name)
		e.untilContended(name, 2)
		if they.hasIt() {
			e.Fatal("they have what we have")
		}
		release()
		they.awaitHas(e)
		ctx, cancel := context.WithTimeout(e.Context(), ttl/10)
		if h, _, err := o.take(ctx, locks, name); !errors.Is(err, context.DeadlineExceeded) {
			e.Fatalf("we have what they have: %+v, %v", h, err)
		}
		cancel()
		they.release(e)
		e.untilContended(name, 0)
	}
	e.seen.Show(e.at, o.name, matrix.Excluded, rounds)
}

// wakeUs shows that we are woken by them.
func (o *object) wakeUs(e *together) {
	var took []time.Duration
	name := o.slug + "-wakes"
	for range rounds {
		they := e.startAs(o.name, name)
		they.awaitHas(e)
		got := o.beginTaking(e, e.ours[o.profile], name)
		e.untilContended(name, 2)
		start := time.Now()
		they.release(e)
		we := <-got
		we.receive(e)
		took = append(took, we.at.Sub(start))
		we.giveBack(e)
	}
	e.seen.Woke(e, e.at, o.name, matrix.GoWaits, took)
}

// wakeThem shows that they are woken by us.
func (o *object) wakeThem(e *together) {
	var took []time.Duration
	name := o.slug + "-woken"
	for range rounds {
		_, release := o.mustTake(e, e.ours[o.profile], name)
		they := e.startAs(o.name, name)
		e.untilContended(name, 2)
		start := time.Now()
		release()
		they.awaitHas(e)
		took = append(took, time.Since(start))
		they.release(e)
		e.untilContended(name, 0)
	}
	e.seen.Woke(e, e.at, o.name, matrix.JavaWaits, took)
}

// slack is how much later than the lease of who was killed a lock may be had: etcd looks at leases twice in a second,
// and the machine is slow.
const slack = 2 * ttl

// killThem shows that we have what a process of theirs had that was killed.
func (o *object) killThem(e *together) {
	name := o.slug + "-orphan"
	they := e.startAs(o.name, name)
	they.awaitHas(e)
	got := o.beginTaking(e, e.ours[o.profile], name)
	e.untilContended(name, 2)
	start := time.Now()
	they.kill(e)
	we := <-got
	we.receive(e)
	o.tookOver(e, matrix.JavaDies, o.life, we.at.Sub(start))
	we.giveBack(e)
}

// killUs shows that they have what a process of ours had that was killed.
func (o *object) killUs(e *together) {
	name := o.slug + "-dead"
	dies := e.startAs(o.ours, name)
	dies.awaitHas(e)
	they := e.startAs(o.name, name)
	e.untilContended(name, 2)
	start := time.Now()
	dies.kill(e)
	they.awaitHas(e)
	o.tookOver(e, matrix.GoDies, ttl, time.Since(start))
}

func (o *object) tookOver(e *together, who string, life, took time.Duration) {
	e.Helper()
	e.seen.TookOver(e, e.at, o.name, who, took, life+slack)
}

// oneLine shows that who has come first is served first, on whichever side.
func (o *object) oneLine(e *together) {
	name, locks, other := o.slug+"-line", e.ours[o.profile], e.anotherClient(o.profile)
	for range rounds {
		_, release := o.mustTake(e, locks, name)
		they := e.startAs(o.name, name)
		e.untilContended(name, 2)
		got := o.beginTaking(e, other, name)
		e.untilContended(name, 3)
		last := e.startAs(o.name, name)
		e.untilContended(name, 4)
		release()
		they.awaitHas(e)
		if len(got) > 0 || last.hasIt() {
			e.Fatal("somebody overtakes")
		}
		they.release(e)
		we := <-got
		we.receive(e)
		if last.hasIt() {
			e.Fatal("two have it")
		}
		we.giveBack(e)
		last.awaitHas(e)
		last.release(e)
		e.untilContended(name, 0)
	}
	e.seen.Show(e.at, o.name, matrix.InOrder, rounds)
}

// raiseTokens shows that ours rise, with locks of theirs in between, whose revisions count as tokens, too.
func (o *object) raiseTokens(e *together) {
	name, newest := o.slug+"-tokens", uint64(0)
	for range rounds {
		h, release := o.mustTake(e, e.ours[o.profile], name)
		if h.Token() <= newest {
			e.Fatalf("token %d after %d", h.Token(), newest)
		}
		newest = h.Token()
		they := e.startAs(o.name, name)
		e.untilContended(name, 2)
		release()
		they.awaitHas(e)
		resp, err := e.client.Get(e.Context(), name+"/", clientv3.WithFirstCreate()...)
		if err != nil || len(resp.Kvs) != 1 {
			e.Fatalf("%+v, %v", resp, err)
		}
		newest = max(newest, uint64(resp.Kvs[0].ModRevision)<<20)
		they.release(e)
		e.untilContended(name, 0)
	}
	e.seen.Show(e.at, o.name, matrix.TokensRise, rounds)
}

// inspect shows that each sees who the other is, and what it proposes.
func (o *object) inspect(e *together) {
	name, locks := o.slug+"-seen", e.ours[o.profile]
	for range rounds {
		they := e.startAs(o.name, name)
		they.awaitHas(e)
		info, err := locks.Inspect(e.Context(), name)
		if err != nil || len(info.Holders) != 1 {
			e.Fatalf("they are seen as %+v, %v", info, err)
		}
		h := info.Holders[0]
		if h.TTL <= 0 || h.TTL > o.life+time.Second {
			e.Errorf("they are seen as %+v", h)
		}
		if o.profile == etcdlock.Elections && h.Meta[etcdlock.ProposalKey] != theirProposal {
			e.Errorf("they are seen to propose %v", h.Meta)
		}
		they.release(e)
		e.untilContended(name, 0)
	}
	e.seen.Show(e.at, o.name, matrix.InspectedByGo, rounds)
	if o.name != "etcdctl elect" {
		return
	}
	for range rounds {
		h, release := o.mustTake(e, locks, name)
		if key, proposal := listen(e, name); proposal != ourProposal || !strings.HasSuffix(key, h.Owner()) {
			e.Errorf("%s is seen as %q, which proposes %q", h.Owner(), key, proposal)
		}
		release()
	}
	e.seen.Show(e.at, o.name, matrix.InspectedByJava, rounds)
}

// listen returns the leader as etcdctl elect sees it that listens.
func listen(e *together, name string) (key, proposal string) {
	e.Helper()
	cmd := exec.CommandContext(e.Context(), testenv.Program(e.T, "etcdctl", "run: make servers"),
		"--endpoints="+e.theirs, "elect", "--listen", name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		e.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	for _, text := range []*string{&key, &proposal} {
		if !lines.Scan() {
			e.Fatal("it says nothing")
		}
		*text = lines.Text()
	}
	return key, proposal
}
