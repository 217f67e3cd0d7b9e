package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/child"
)

// How a worker learns what it needs to know. The backend's URL may hold a
// password, which does not belong on a command line.
const (
	envWorker  = "BEDROCK_DEMO_WORKER"
	envSocket  = "BEDROCK_DEMO_SOCKET"
	envLock    = "BEDROCK_DEMO_LOCK"
	envBackend = "BEDROCK_DEMO_BACKEND"
)

// worker is a worker process as this program sees it.
type worker struct {
	name    string
	process *child.Process
	stdin   io.WriteCloser
	orders  *json.Encoder
	reports chan report
}

// start starts a worker process.
func (s *show) start(ctx context.Context, name string) (*worker, error) {
	cmd := exec.CommandContext(ctx, s.opts.Executable, s.opts.Args...)
	cmd.Env = append(os.Environ(), envWorker+"="+name, envSocket+"="+s.socket, envLock+"="+s.lock,
		envBackend+"="+s.opts.Backend)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	cmd.Stdout = in
	w := &worker{name: name, stdin: stdin, orders: json.NewEncoder(stdin), reports: make(chan report, 1024)}
	if w.process, err = child.Start(cmd, true); err != nil {
		return nil, err
	}
	go w.hear(out)
	go func() {
		<-w.process.Done()
		_ = in.Close()
	}()
	return w, nil
}

// hear passes the worker's reports on until it has ended.
func (w *worker) hear(out io.Reader) {
	defer close(w.reports)
	lines := json.NewDecoder(out)
	for {
		var r report
		if lines.Decode(&r) != nil {
			_, _ = io.Copy(io.Discard, out)
			return
		}
		w.reports <- r
	}
}

// dismiss ends the worker and waits until all that it said has been heard.
func (w *worker) dismiss() {
	_ = w.stdin.Close()
	w.process.Kill()
	for range w.reports { // its end is what counts
	}
}

// sendCommand tells the worker to do something.
func (w *worker) sendCommand(c command) error {
	if err := w.orders.Encode(c); err != nil {
		return fmt.Errorf("worker %s: %w", w.name, err)
	}
	return nil
}

// problemIn returns an error if the report tells of one.
func (w *worker) problemIn(r report) error {
	switch r.Event {
	case "":
		return fmt.Errorf("worker %s ended unexpectedly", w.name)
	case eventFailed:
		return fmt.Errorf("worker %s: %s", w.name, r.Text)
	}
	return nil
}

// nextEvent returns the next report if it is one of the expected events.
func (w *worker) nextEvent(ctx context.Context, events ...string) (report, error) {
	select {
	case r := <-w.reports:
		if err := w.problemIn(r); err != nil {
			return r, err
		}
		if !slices.Contains(events, r.Event) {
			return r, fmt.Errorf("worker %s: %s %s, expected %v", w.name, r.Event, r.Text, events)
		}
		return r, nil
	case <-ctx.Done():
		return report{}, ctx.Err()
	}
}

func (w *worker) awaitAll(ctx context.Context, n int, events ...string) ([]report, error) {
	var all []report
	for range n {
		r, err := w.nextEvent(ctx, events...)
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// silentFor waits, and reports whether the worker spoke too early. It then
// returns at once.
func (w *worker) silentFor(ctx context.Context, d time.Duration) (spoke bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false, nil
	case r := <-w.reports:
		return true, errors.Join(w.problemIn(r), fmt.Errorf("worker %s got the lock while it was held", w.name))
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// takeLock makes the worker get the lock.
func (w *worker) takeLock(ctx context.Context) (report, error) {
	if err := w.sendCommand(command{Do: doTake}); err != nil {
		return report{}, err
	}
	return w.nextEvent(ctx, eventTaken)
}

// release makes the worker give the lock back.
func (w *worker) release(ctx context.Context) error {
	if err := w.sendCommand(command{Do: doRelease}); err != nil {
		return err
	}
	_, err := w.nextEvent(ctx, eventReleased)
	return err
}
