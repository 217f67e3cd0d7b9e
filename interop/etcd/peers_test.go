package etcd_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// playsAs has this program be another one: it has a lock as that object does, until its input ends or it is killed.
const (
	playsAs    = "BEDROCK_INTEROP_PLAYS_AS"
	playsAt    = "BEDROCK_INTEROP_PLAYS_AT"
	playsNamed = "BEDROCK_INTEROP_PLAYS_NAMED"
)

// The objects that this program can be.
const (
	ourMutex         = "our mutex"
	ourElection      = "our election"
	officialMutex    = "concurrency.Mutex"
	officialElection = "concurrency.Election"
)

// What is proposed in elections.
const (
	ourProposal   = "ours"
	theirProposal = "theirs"
)

// play is the program that this one is.
func play(role, endpoint, name string) {
	ctx := context.Background()
	client, err := dial(endpoint)
	var release func(context.Context) error
	if err == nil {
		release, err = takeAs(ctx, client, role, name)
	}
	if err == nil {
		fmt.Fprintln(os.Stdout, "held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		err = release(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// takeAs has the lock, and returns how it is given back.
func takeAs(ctx context.Context, client *clientv3.Client, role, name string) (func(context.Context) error, error) {
	switch role {
	case ourMutex:
		locks, err := newLocks(client, etcdlock.Compatible)
		if err != nil {
			return nil, err
		}
		lease, err := locks.Mutex(name, nil).Lock(ctx)
		if err != nil {
			return nil, err
		}
		return lease.Unlock, nil
	case ourElection:
		locks, err := newLocks(client, etcdlock.Elections)
		if err != nil {
			return nil, err
		}
		term, err := newElection(locks, name).Campaign(ctx)
		if err != nil {
			return nil, err
		}
		return term.Resign, nil
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(ttl.Seconds())))
	if err != nil {
		return nil, err
	}
	if role == officialMutex {
		m := concurrency.NewMutex(session, name)
		return m.Unlock, m.Lock(ctx)
	}
	e := concurrency.NewElection(session, name)
	return e.Resign, e.Campaign(ctx, theirProposal)
}

func dial(endpoint string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
}

// newLocks returns a client whose leases end as soon as those of the others: in whole seconds, a second after the TTL.
func newLocks(client *clientv3.Client, profile etcdlock.Profile) (*lock.Client, error) {
	return etcdlock.New(client, &etcdlock.Options{Profile: profile, Lock: lock.Options{TTL: ttl - time.Second}})
}

func newElection(locks *lock.Client, name string) *election.Election {
	return election.New(locks, name, &election.Options{Meta: map[string]string{etcdlock.ProposalKey: ourProposal}})
}

// process is a running one, which has a lock, or waits for it.
type process struct {
	cmd *exec.Cmd
	in  io.Closer
	has chan struct{} // closed when it says so
	ctl bool          // it is etcdctl, which is told to end by a signal
}

// startAs starts a process that has a lock as soon as it can, as an object has it.
func (e *together) startAs(role, name string) *process {
	e.Helper()
	var cmd *exec.Cmd
	p := &process{has: make(chan struct{})}
	if command, ok := strings.CutPrefix(role, "etcdctl "); ok {
		p.ctl = true
		args := []string{"--endpoints=" + e.theirs, command, name}
		if command == "elect" {
			args = append(args, theirProposal)
		} else {
			args = append(args, fmt.Sprintf("--ttl=%d", int(ttl.Seconds())))
		}
		cmd = exec.CommandContext(e.Context(), testenv.Program(e.T, "etcdctl", "run: make servers"), args...)
	} else {
		program, err := os.Executable()
		if err != nil {
			e.Fatal(err)
		}
		cmd = exec.CommandContext(e.Context(), program)
		cmd.Env = append(os.Environ(), playsAs+"="+role, playsAt+"="+e.theirs, playsNamed+"="+name)
	}
	p.cmd = cmd
	p.run(e)
	return p
}

// run starts it, and listens to what it says.
func (p *process) run(e *together) {
	e.Helper()
	in, err := p.cmd.StdinPipe()
	if err != nil {
		e.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		e.Fatal(err)
	}
	var complaints strings.Builder
	p.cmd.Stderr = &complaints
	if err := p.cmd.Start(); err != nil {
		e.Fatal(err)
	}
	p.in = in
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		lines := bufio.NewReader(out)
		if _, err := lines.ReadString('\n'); err == nil {
			close(p.has)
		}
		_, _ = io.Copy(io.Discard, lines)
	}()
	e.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-silent
		_ = p.cmd.Wait()
		if e.Failed() {
			e.Log(complaints.String())
		}
	})
}

// awaitHas waits until it has the lock.
func (p *process) awaitHas(e *together) {
	e.Helper()
	select {
	case <-p.has:
	case <-time.After(peer.Patience):
		e.Fatal("it has no lock")
	}
}

// hasIt reports whether it has said that it has the lock.
func (p *process) hasIt() bool {
	select {
	case <-p.has:
		return true
	default:
		return false
	}
}

// release has it give the lock back, and end.
func (p *process) release(e *together) {
	e.Helper()
	err := p.in.Close()
	if p.ctl {
		err = p.cmd.Process.Signal(os.Interrupt)
	}
	if err != nil {
		e.Fatal(err)
	}
}

// kill ends it without a chance to give anything back.
func (p *process) kill(e *together) {
	e.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		e.Fatal(err)
	}
}
