package lock

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Info describes a lock as the backend sees it.
type Info struct {
	Name string
	// Kind is what the lock is, such as [driver.Mutex], while somebody has it.
	Kind driver.Kind
	// Limit is how many permits there are in all, of a semaphore that somebody has permits of.
	Limit int
	// Token is the newest fencing token given out for the name. Of a free lock it may be the
	// newest of all names, even if nobody has ever had it: memlock counts once for all.
	Token uint64
	// Holders are those who have the lock; none when it is free.
	Holders []Holder
	// Waiting is how many processes wait, as far as the backend can tell. A holder that had to wait itself may be
	// counted among them for as long as it holds: the backend counts who listens.
	Waiting int
	// Local is how many goroutines of this process wait.
	Local int
	// Line is who waits for a fair lock, in order: see [MutexOptions.Fair].
	Line []InLine
}

// InLine is somebody who waits for a fair lock.
type InLine struct {
	// Owner is the owner id under which it asks, or what the backend tells of that.
	Owner string
	// Since is when it has come, by the backend's clock; zero when it does not tell.
	Since time.Time
	// Meta is what it would store: "host" and "pid", and its own.
	Meta map[string]string
}

// Held reports whether somebody has the lock.
func (i Info) Held() bool { return len(i.Holders) > 0 }

// Holder is one of those who have a lock.
type Holder struct {
	// Owner is its owner id, or what the backend tells of that.
	Owner string
	// Mode is how it shares the name with others, such as [driver.Exclusive].
	Mode driver.Mode
	// Permits is how many of the name's permits it has, in mode [driver.Permit].
	Permits int
	// Upgradeable says that it is the reader who may become a writer.
	Upgradeable bool
	// Token is the first fencing token of the grant, 0 when the backend does not tell it. A lease that was handed the
	// grant by another one of its process has a later one.
	Token uint64
	// Since is when the backend gave the grant; zero when it does not tell.
	Since time.Time
	// TTL is the time left unless renewed; negative when it never ends.
	TTL time.Duration
	// Linger is for how long it may stay with its client after it was unlocked, 0 if not at all. If it may,
	// the lock can be unlocked at this moment, and the store does not know. See [Options.Linger].
	Linger time.Duration
	// Meta is what the holder stored: "host" and "pid", and its own.
	Meta map[string]string
	// Waits are the names of other locks that the holder waits for with this one in hand, for a second or longer: in
	// a Lock whose context carries the lease.
	Waits []string
}

// Has says in a word or two what the holder has: exclusive, shared, upgradeable, write, or 2 permits.
func (h Holder) Has() string {
	switch {
	case h.Upgradeable:
		return "upgradeable"
	case h.Mode != driver.Permit:
		return h.Mode.String()
	case h.Permits == 1:
		return "1 permit"
	default:
		return strconv.Itoa(h.Permits) + " permits"
	}
}

// Inspect describes the lock of that name. It fails with [ErrUnsupported] when
// the backend cannot tell.
func (c *Client) Inspect(ctx context.Context, name string) (Info, error) {
	backend, ok := c.backend.(driver.Inspector)
	if !ok {
		return Info{}, c.lacks("inspection")
	}
	if err := c.usable(ctx, driver.CheckName(name)); err != nil {
		return Info{}, err
	}
	found, err := backend.Inspect(ctx, name)
	if err != nil {
		return Info{}, opError("inspect", name, err)
	}
	return c.info(found), nil
}

// List describes the held locks whose names begin with prefix, at most limit of
// them, in no particular order.
func (c *Client) List(ctx context.Context, prefix string, limit int) ([]Info, error) {
	backend, ok := c.backend.(driver.Inspector)
	if !ok {
		return nil, c.lacks("inspection")
	}
	if limit < 1 {
		return nil, input.Errorf("limit", "is %d, the least is 1", limit)
	}
	if err := c.usable(ctx, driver.CheckPrefix(prefix)); err != nil {
		return nil, err
	}
	found, err := backend.List(ctx, prefix, limit)
	switch {
	case err != nil && prefix == "":
		return nil, fmt.Errorf("lock: list: %w", err)
	case err != nil:
		return nil, opError("list", prefix+"…", err)
	}
	infos := make([]Info, len(found))
	for i := range found {
		infos[i] = c.info(found[i])
	}
	return infos, nil
}

// ForceRelease frees the lock, whoever holds it, and raises its token, so that
// the former holder is refused by every guard that has seen a newer one. The
// holder learns of the loss at once where the backend can tell it, see [driver.Notifier], else
// at its next renewal. It reports whether the lock was
// held. Without an answer it may have taken effect, see [MaybeApplied].
func (c *Client) ForceRelease(ctx context.Context, name string) (bool, error) {
	backend, ok := c.backend.(driver.Forcer)
	if !ok {
		return false, c.lacks("forced release")
	}
	if err := c.usable(ctx, driver.CheckName(name)); err != nil {
		return false, err
	}
	held, err := backend.ForceRelease(ctx, name)
	if err == nil {
		return held, nil
	}
	var none *settle.Doubt
	doubt := none.After(err)
	if err = outcome.NotTheCallersEnd(ctx, err); doubt != nil { // it has gone out, and nobody takes it back
		err = outcome.Unknown(err)
	}
	return false, opError("force release", name, err)
}

// Check examines the backend's settings and says what they mean for the safety
// of locks, worst first.
func (c *Client) Check(ctx context.Context) ([]driver.Finding, error) {
	backend, ok := c.backend.(driver.Checker)
	if !ok {
		return nil, c.lacks("a check of settings")
	}
	if err := c.usable(ctx, nil); err != nil {
		return nil, err
	}
	findings, err := backend.Check(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: check: %w", err)
	}
	return findings, nil
}

// usable reports what is wrong before the backend is asked: with the client, or with what
// it is asked for.
func (c *Client) usable(ctx context.Context, wrong error) error {
	switch {
	case ctx == nil:
		return errNilContext()
	case isClosed(c.closed):
		return fmt.Errorf("lock: %w", ErrClosed)
	}
	return wrong
}

func (c *Client) lacks(capability string) error {
	return fmt.Errorf("lock: %w: the backend has no %s", ErrUnsupported, capability)
}

func (c *Client) info(found driver.Info) Info {
	info := Info{
		Name: found.Name, Kind: found.Kind, Limit: found.Limit,
		Token: found.Token, Waiting: found.Waiting, Local: c.queues.countWaiting(found.Name),
	}
	for _, h := range found.Holders {
		meta := driver.DecodeMeta(h.Meta)
		waits := wishNames(takeWishes(meta))
		info.Holders = append(info.Holders, Holder{
			Owner: h.Owner, Mode: h.Mode, Permits: h.Permits, Upgradeable: h.Upgradeable, Token: h.Token,
			Since: h.Since, TTL: h.TTL, Linger: h.Linger, Waits: waits, Meta: meta,
		})
	}
	for _, w := range found.Line {
		info.Line = append(info.Line, InLine{Owner: w.Owner, Since: w.Since, Meta: driver.DecodeMeta(w.Meta)})
	}
	return info
}
