package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/sleep"
)

// silentFor is how long nothing is said of a wait.
const silentFor = time.Second

// sayWaiting tells for whom the program waits: once to whoever reads the log, and on a terminal in a line that is kept
// up to date until ctx ends. What who waits was told itself goes before what can be seen; nil if that is not known.
func (s *system) sayWaiting(
	ctx context.Context, session *lockurl.Session, name string, told func(context.Context) error,
) {
	if !isTerminal(s.stderr) {
		if text := waitingFor(ctx, session, name, told); text != "" {
			fmt.Fprintln(s.stderr, text)
		}
		return
	}
	began := time.Now().Add(-silentFor)
	for {
		if text := waitingFor(ctx, session, name, told); text != "" {
			rewriteLine(s.stderr, fmt.Sprintf("%s; since %s", text, time.Since(began).Round(time.Second)))
		}
		if !sleep.For(ctx, silentFor) {
			rewriteLine(s.stderr, "")
			return
		}
	}
}

// rewriteLine writes over the line that a terminal is in.
func rewriteLine(terminal *os.File, text string) { fmt.Fprint(terminal, "\r\x1b[K"+text) }

// waitingFor says for whom the program waits; nothing if the wait is over.
func waitingFor(
	ctx context.Context, session *lockurl.Session, name string, told func(context.Context) error,
) string {
	bounded, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	info, err := session.Inspect(bounded, name)
	view := &lockView{info}
	text := fmt.Sprintf("bedrock: waiting for lock %q", name)
	before := view.writerBefore(bounded, told)
	switch {
	case ctx.Err() != nil:
		return ""
	case bounded.Err() != nil:
		return text + ": the backend does not answer"
	case err != nil:
		return fmt.Sprintf("%s: %v", text, err)
	case before != nil:
		return text + ", " + before.Error()
	case info.Held() && !view.ours(): // a grant of ours waits for its replicas
		return text + view.inLine() + ", " + view.heldBy()
	default:
		return text + view.inLine()
	}
}
