package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// yieldUsage is that of --yield, of all commands that run one.
const yieldUsage = "end the command, as when the lock is lost, when somebody asks for it: see 'bedrock lock yield'"

// pleas tells whoever reads the log that somebody asks for the lock. Who that is cannot be known.
type pleas struct {
	sys  *system
	ends bool // the command ends then
}

// Observe implements [lock.Observer].
func (p pleas) Observe(_ context.Context, e lock.Event) {
	if e.Kind != lock.EventAsked {
		return
	}
	var line strings.Builder
	fmt.Fprintf(&line, "bedrock: somebody asks for lock %q", e.Name)
	if !e.Plea.By.IsZero() {
		fmt.Fprintf(&line, " by %s", e.Plea.By.Local().Format(time.TimeOnly))
	}
	if e.Plea.Reason != "" {
		fmt.Fprintf(&line, ": %s", oneLine(e.Plea.Reason))
	}
	if p.ends {
		line.WriteString("; the command is told to end")
	}
	fmt.Fprintln(p.sys.stderr, line.String())
}
