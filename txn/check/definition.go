package check

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// Limits bounds what a definition may ask for.
type Limits struct {
	Branches int           // default 1,000; at most 1,000,000
	Payload  int           // bytes, all payloads together; default 1 MiB
	Headers  int           // bytes, all headers together; default 8 KiB
	Timeout  time.Duration // default 366 days
}

// WithDefaults fills what is zero.
func (l Limits) WithDefaults() Limits {
	if l.Branches == 0 {
		l.Branches = 1000
	}
	if l.Payload == 0 {
		l.Payload = 1 << 20
	}
	if l.Headers == 0 {
		l.Headers = 8 << 10
	}
	if l.Timeout == 0 {
		l.Timeout = 366 * 24 * time.Hour
	}
	return l
}

// How much a definition may weigh besides its payloads, on average: planning takes
// time for every link, and every record carries the words.
const (
	linksPerBranch = 10
	wordsPerBranch = 1024
)

const (
	idRule   = "1 to 128 letters, digits and . _ : -, not dots alone"
	nameRule = "at most 128 bytes, printable"
)

// Checker refuses definitions that make no sense in any mode.
type Checker struct{ limits Limits }

// New makes a Checker with these limits.
func New(l Limits) *Checker { return &Checker{limits: l.WithDefaults()} }

// ID checks a transaction's ID. Dots alone would mean a folder in the path of a URL.
func (c *Checker) ID(id string) error {
	if !consists(id, 128, "._:-") || strings.Trim(id, ".") == "" {
		return input.Errorf("id", "%q: want %s", clip(id), idRule)
	}
	return nil
}

// Name checks a field that is a name, or part of one or of an ID.
func (c *Checker) Name(field, value string) error {
	if len(value) > 128 || strings.ContainsFunc(value, unprintable) {
		return input.Errorf(field, "%q: want %s", clip(value), nameRule)
	}
	return nil
}

// Definition checks everything that does not depend on the mode.
func (c *Checker) Definition(d *txn.Definition) error {
	if d.ID != "" {
		if err := c.ID(d.ID); err != nil {
			return err
		}
	}
	for _, check := range []func(*txn.Definition) error{c.head, c.Number, c.sizes, c.branches, c.branchOrder, c.check} {
		if err := check(d); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) head(d *txn.Definition) error {
	if err := c.Name("name", d.Name); err != nil {
		return err
	}
	switch {
	case isOutside(d.Timeout, c.limits.Timeout):
		return input.Errorf("timeout", "%s: want 0 (none) or 1ms to %v", long(d.Timeout), c.limits.Timeout)
	case isOutside(d.Delay, c.limits.Timeout):
		return input.Errorf("delay", "%s: want 0 (none) or 1ms to %v", long(d.Delay), c.limits.Timeout)
	case d.Parallel < 0 || d.Parallel > c.limits.Branches:
		return input.Errorf("parallel", "%s: want 0 (default) to %d", many(d.Parallel), c.limits.Branches)
	case d.Recovery != "" && d.Recovery != txn.Backward && d.Recovery != txn.Forward:
		return input.Errorf("recovery", "%q: want backward or forward", clip(string(d.Recovery)))
	}
	return nil
}

// Number checks how many branches there are. It is part of Definition, and alone what can be asked
// before anything is done for each of them.
func (c *Checker) Number(d *txn.Definition) error {
	if n := len(d.Branches); n > c.limits.Branches {
		return input.Errorf("branches", "%d of them: at most %d", n, c.limits.Branches)
	}
	return nil
}

func (c *Checker) sizes(d *txn.Definition) error {
	payload, links, words := len(d.Payload), 0, 0
	for i := range d.Branches {
		b := &d.Branches[i]
		payload += len(b.Payload)
		links += len(b.After) + len(b.Use)
		words += length(b)
	}
	switch {
	case payload > c.limits.Payload:
		return input.Errorf("payload", "%d bytes in all: at most %d", payload, c.limits.Payload)
	case links > linksPerBranch*c.limits.Branches:
		return input.Errorf("branches", "%d entries of after and use in all: at most %d",
			links, linksPerBranch*c.limits.Branches)
	case words > wordsPerBranch*c.limits.Branches:
		return input.Errorf("branches", "%d bytes of names and targets in all: at most %d",
			words, wordsPerBranch*c.limits.Branches)
	}
	return c.headers(d.Headers)
}

// length is what a branch weighs without its payload.
func length(b *txn.Branch) int {
	n := len(b.ID) + len(b.Do) + len(b.Confirm) + len(b.Undo)
	for _, id := range b.After {
		n += len(id)
	}
	for name, from := range b.Use {
		n += len(name) + len(from)
	}
	if b.Policy != nil {
		n += len(b.Policy.Hook)
	}
	return n
}

func (c *Checker) headers(h map[string]string) error {
	size := 0
	for name, value := range h {
		size += len(name) + len(value)
		field := fmt.Sprintf("headers[%q]", clip(name))
		switch {
		case !token(name):
			return input.Errorf(field, "not a header name")
		case forbiddenHeader(name):
			return input.Errorf(field, "may not be passed on")
		case strings.ContainsFunc(value, unprintable):
			return input.Errorf(field, "value has control characters")
		}
	}
	if size > c.limits.Headers {
		return input.Errorf("headers", "%d bytes in all: at most %d", size, c.limits.Headers)
	}
	return nil
}

func (c *Checker) branches(d *txn.Definition) error {
	seen := make(map[string]bool, len(d.Branches))
	for i := range d.Branches {
		b := &d.Branches[i]
		if err := branch(b, seen[b.ID]); err != nil {
			return under(fmt.Sprintf("branches[%d]", i), err)
		}
		seen[b.ID] = true
	}
	return nil
}

// branch checks one branch by itself.
func branch(b *txn.Branch, seen bool) error {
	switch {
	case !consists(b.ID, txn.MaxBranchID, "_-/"):
		return input.Errorf("id", "%q: want 1 to %d letters, digits and _ - /", clip(b.ID), txn.MaxBranchID)
	case seen:
		return input.Errorf("id", "%q is there twice", b.ID)
	}
	if err := policy(b.Policy); err != nil {
		return under("policy", err)
	}
	return targets(b)
}

func (c *Checker) check(d *txn.Definition) error {
	if d.Check == nil {
		return nil
	}
	if isOutside(d.Check.After, c.limits.Timeout) {
		return input.Errorf("check.after", "%s: want 0 (default) or 1ms to %v", long(d.Check.After), c.limits.Timeout)
	}
	if err := askedTarget(d.Check.Target); err != nil {
		return under("check.target", err)
	}
	if err := policy(d.Check.Policy); err != nil {
		return under("check.policy", err)
	}
	return nil
}

// under says where in the definition a field is. Most definitions are right, so
// paths are put together on the way back only.
func under(path string, err error) error {
	inner, ok := errors.AsType[*txn.InvalidError](err)
	if !ok {
		return err
	}
	if inner.Field != "" {
		path += "." + inner.Field
	}
	return &txn.InvalidError{Field: path, Problem: inner.Problem}
}

// consists reports whether s has 1 to most bytes, all of them letters, digits or
// others.
func consists(s string, most int, others string) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := range len(s) {
		if !letterOrDigit(rune(s[i])) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}
