package child_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// TestMain lets the test binary be the child that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == child.Command {
		if err := echo(child.NewPipe(os.Stdin, os.Stdout)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// echo answers with what it was told; it burns time, or hangs, when told to.
func echo(pipe *child.Pipe) error {
	var job string
	if err := pipe.Job(&job); err != nil {
		return err
	}
	if job == "fail" {
		return errors.New("cannot work today")
	}
	return pipe.Serve("ready for "+job, func(name string, args json.RawMessage) (any, error) {
		switch name {
		case "burn":
			for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
			}
			return nil, nil
		case "hang":
			time.Sleep(time.Hour)
			return nil, nil
		case "refuse":
			return nil, errors.New("not like this")
		default:
			return args, nil
		}
	})
}

func TestOrdersAreAnswered(t *testing.T) {
	var ready string
	p, err := child.Start(t.Context(), "echo", "work", &ready)
	if err != nil || ready != "ready for work" {
		t.Fatalf("ready = %q, %v", ready, err)
	}
	var answer int
	if err := p.Ask("say", 42, &answer); err != nil || answer != 42 {
		t.Errorf("answer = %d, %v", answer, err)
	}
	if err := p.Ask("refuse", nil, nil); err == nil || !strings.Contains(err.Error(), "not like this") {
		t.Errorf("refusal = %v", err)
	}
	if err := p.Ask("say", 43, &answer); err != nil || answer != 43 {
		t.Errorf("answer after a refusal = %d, %v", answer, err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAChildThatFailsSaysWhy(t *testing.T) {
	_, err := child.Start(t.Context(), "echo", "fail", nil)
	if err == nil || !strings.Contains(err.Error(), "cannot work today") {
		t.Errorf("error = %v, want the child's last words", err)
	}
}

func TestAKilledChildIsNotWaitedFor(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := child.Start(ctx, "echo", "work", nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() { asked <- p.Ask("hang", nil, nil) }()
	cancel()
	if err := <-asked; err == nil {
		t.Error("a killed child answered")
	}
	p.Kill()
}

func TestProcessorTimeIsThatOfTheChild(t *testing.T) {
	p, err := child.Start(t.Context(), "echo", "work", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	before, err := child.CPU(p.ID())
	if err != nil {
		t.Fatal(err)
	}
	for used := time.Duration(0); used < 50*time.Millisecond; { // others may be on the machine
		if err := p.Ask("burn", nil, nil); err != nil {
			t.Fatal(err)
		}
		after, err := child.CPU(p.ID())
		if err != nil {
			t.Fatal(err)
		}
		used = after - before
	}
	tree, err := child.Tree(os.Getpid())
	if err != nil || tree < before+50*time.Millisecond {
		t.Errorf("this process and its child used %v, %v; less than the child alone", tree, err)
	}
	if busy, err := child.Busy(); err != nil || busy < tree {
		t.Errorf("the machine used %v, %v; less than we did: %v", busy, err, tree)
	}
	p.Kill()
	if _, err := child.CPU(p.ID()); err == nil {
		t.Error("a process that is gone has a processor time")
	}
}

func TestListenersAreFound(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if pid, found := child.Listening(addr); !found || pid != os.Getpid() {
		t.Errorf("listener of %s = %d, %v; want ourselves", addr, pid, found)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if pid, found := child.Listening(addr); found {
		t.Errorf("nobody listens at %s any more, and %d was found", addr, pid)
	}
}
