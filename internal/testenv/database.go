package testenv

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// The account every database server has. The password is there to be asked for,
// and to be looked for where no credentials belong.
const (
	databaseUser     = "bedrock"
	databasePassword = "open-sesame"
)

// databaseTimeout bounds the wait for a start and for a polite stop. Each takes a
// tenth of a second on an idle machine.
const databaseTimeout = 30 * time.Second

// database is what a MariaDB and a PostgreSQL server have in common: processes
// on one port, and data in a folder that outlives them. Its methods end the test
// when they fail and are called from the test's own goroutine, except for Kill,
// Freeze and Thaw.
type database struct {
	// Port is the server's port on 127.0.0.1; it stays the same over restarts.
	Port int
	// Dir holds data and log.
	Dir string

	t       Owner
	kind    string
	proc    *process
	command func() *exec.Cmd // the server
	ready   func() bool      // whether it takes connections
	quit    os.Signal        // stops it politely, clients or not
}

// open gives the server a port and a folder, for as long as the test lasts.
func (d *database) open() {
	d.t.Helper()
	p, err := reservePort()
	if err != nil {
		d.t.Fatal(err)
	}
	d.Port = p.number
	// Not TempDir of the test: nobody but us can look into its parent, and
	// PostgreSQL may have to run as somebody else.
	dir, err := os.MkdirTemp("", "bedrock-"+d.kind+"-")
	if err != nil {
		d.t.Fatalf("%s: make folder: %v", d.kind, err)
	}
	d.Dir = dir
	d.t.Cleanup(func() {
		d.Kill()
		p.release()
		if err := os.RemoveAll(dir); err != nil {
			d.t.Errorf("%s: remove folder: %v", d.kind, err)
		}
	})
}

// Addr is the server's address.
func (d *database) Addr() string { return loopback(d.Port) }

// start runs the server and waits until it takes connections.
func (d *database) start() {
	d.t.Helper()
	if err := d.launch(d.command()); err != nil {
		d.fatal("start", err)
	}
	d.awaitServing()
}

// awaitServing waits until the server takes connections.
func (d *database) awaitServing() {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), databaseTimeout)
	defer cancel()
	err := poll(ctx, 5*time.Millisecond, func() bool { return d.proc.isGone() || d.ready() })
	if err != nil || d.proc.isGone() {
		d.fatal("wait for readiness", err)
	}
}

// launch starts the process. It is gone when all its children are gone as well:
// they write to the same log, and a log that is no file to them is waited for.
func (d *database) launch(cmd *exec.Cmd) error {
	log, err := os.OpenFile(d.logFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	out := struct{ io.Writer }{log}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = databaseTimeout // should a child outlive a parent that crashed by itself
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		p.run(started)
		_ = log.Close()
	}()
	if err := <-started; err != nil {
		return err
	}
	d.proc = p
	return nil
}

// Kill ends the server at once, as a crash would, and waits until nothing of it
// is left.
func (d *database) Kill() {
	if d.proc == nil || d.proc.isGone() {
		return
	}
	d.proc.sendSignal(freezeSignal()) // so that no child is born while they are killed
	d.signalChildren(os.Kill)
	d.proc.kill()
}

// Freeze suspends the server: connections stay open, nothing is answered.
func (d *database) Freeze() {
	d.proc.sendSignal(freezeSignal())
	d.signalChildren(freezeSignal())
	ctx, cancel := context.WithTimeout(context.Background(), databaseTimeout)
	defer cancel()
	pids := append(childrenOf(d.proc.cmd.Process.Pid), d.proc.cmd.Process.Pid)
	_ = poll(ctx, time.Millisecond, func() bool { // else it is late
		return !slices.ContainsFunc(pids, func(pid int) bool { return !isStopped(pid) })
	})
}

// Thaw lets a paused server go on.
func (d *database) Thaw() {
	d.signalChildren(thawSignal())
	d.proc.sendSignal(thawSignal())
}

// signalChildren signals the processes the server has started: PostgreSQL has
// one per connection, which would serve on without their parent.
func (d *database) signalChildren(sig os.Signal) {
	for _, id := range childrenOf(d.proc.cmd.Process.Pid) {
		if child, err := os.FindProcess(id); err == nil {
			_ = child.Signal(sig) // it may have ended by itself
		}
	}
}

// Stop ends the server politely; whoever is connected is cut off.
func (d *database) Stop() {
	d.t.Helper()
	d.Thaw()
	d.proc.sendSignal(d.quit)
	select {
	case <-d.proc.done:
	case <-time.After(databaseTimeout):
		d.fatal("stop", fmt.Errorf("still there after %v", databaseTimeout))
	}
}

// Restart stops the server if it still runs and starts it again, on the same
// port and with its data.
func (d *database) Restart() {
	d.t.Helper()
	if !d.proc.isGone() {
		d.Stop()
	}
	d.start()
}

// runOrFail runs a program that prepares or asks the server and ends the test when it
// fails.
func (d *database) runOrFail(what string, cmd *exec.Cmd) {
	d.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%s %s: %s: %v\n%s", d.kind, d.Addr(), what, err, out)
	}
}

// fatal ends the test and shows the end of the server's log.
func (d *database) fatal(what string, err error) {
	d.t.Helper()
	if err == nil {
		err = fmt.Errorf("server ended: %v", d.proc.cmd.ProcessState)
	}
	log, _ := os.ReadFile(d.logFile())
	d.t.Fatalf("%s %s: %s: %v\n%s", d.kind, d.Addr(), what, err, log[max(0, len(log)-logTailBytes):])
}

func (d *database) logFile() string { return filepath.Join(d.Dir, "server.log") }
