package demo

import (
	"fmt"
	"io"
	"time"
)

// story prints what happens, with the time since the beginning.
type story struct {
	out   io.Writer
	start time.Time
	acts  int
}

func newStory(out io.Writer) *story { return &story{out: out, start: time.Now()} }

func (s *story) prologue(backend string) {
	where := "the memory of this program, served to the workers over a socket: nothing is installed"
	if backend != "" {
		where = "your Redis"
	}
	fmt.Fprintf(s.out, "Locks are kept in %s.\nA lease lives %s unless its holder renews it.\n", where, leaseTTL)
}

// title begins a chapter.
func (s *story) title(text string) {
	s.acts++
	fmt.Fprintf(s.out, "\n%d. %s\n", s.acts, text)
}

// tellLine prints one line.
func (s *story) tellLine(text string, args ...any) {
	fmt.Fprintf(s.out, "  %6.3fs  %s\n", time.Since(s.start).Seconds(), fmt.Sprintf(text, args...))
}

func (s *story) tellCheck(c check) {
	mark := "yes"
	if !c.kept {
		mark = "NO!"
	}
	fmt.Fprintf(s.out, "  %s  %s: %s\n", mark, c.promise, c.details)
}
