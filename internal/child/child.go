// Package child runs a command that must not outlive a condition: it passes
// signals on to it, and ends it, first politely, when the condition ends.
package child

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// The exit codes of a command that did not start, as shells have them.
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// Command is what to run.
type Command struct {
	// Path is the program, Args its arguments without the program's name.
	Path string
	Args []string
	Env  []string

	Stdin, Stdout, Stderr *os.File
	// Foreground leaves the command in the process group of this program, so
	// that it may read from the terminal. Signals then go to the command alone,
	// and those that the terminal sends to the whole group are not passed on.
	// Otherwise the command leads a group of its own, and signals go to all in
	// it: also to what the command has started.
	Foreground bool
	// Grace is how long the command may take to end after it was told to, with all who are
	// in its group.
	Grace time.Duration
}

// Result says how a command ended.
type Result struct {
	// Code is the command's exit code, 128+n if signal n ended it.
	Code int
	// Ended says that the condition ended first.
	Ended bool
	// Signal is the last one that came while the command was being ended and means that the
	// program should end, too: see [Ends]. It is nil if there was none.
	Signal os.Signal
}

// StartCode returns the exit code for a command that could not be started.
func StartCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return ExitNotFound
	}
	return ExitNotExecutable
}

// Run runs the command until it ends by itself, or end is closed and it has been
// made to end. Signals are passed on until then. An error says that it did not start.
func (c *Command) Run(end <-chan struct{}, signals <-chan os.Signal) (Result, error) {
	p, err := c.start()
	if err != nil {
		return Result{}, err
	}
	for {
		select {
		case <-p.Done():
			return Result{Code: p.Code()}, nil
		case s := <-signals:
			c.passOn(p, s)
		case <-end:
			signal := c.endAndPassOn(p, signals)
			return Result{Code: p.Code(), Ended: true, Signal: signal}, nil
		}
	}
}

// endAndPassOn ends the command, and passes signals on meanwhile. It returns the last one that means
// that this program should end.
func (c *Command) endAndPassOn(p *Process, signals <-chan os.Signal) (ending os.Signal) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.End(c.Grace)
	}()
	for {
		select {
		case <-ended:
			return ending
		case s := <-signals:
			c.passOn(p, s)
			if Ends(s) {
				ending = s
			}
		}
	}
}

func (c *Command) start() (*Process, error) {
	cmd := exec.Command(c.Path, c.Args...) //nolint:noctx // what ends it is more than a context: see End
	cmd.Env = c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	return Start(cmd, !c.Foreground)
}

// passOn forwards a signal, unless the terminal has sent it to the command too.
func (c *Command) passOn(p *Process, s os.Signal) {
	if c.Foreground && fromTerminal(s) {
		return
	}
	p.Signal(s)
}
