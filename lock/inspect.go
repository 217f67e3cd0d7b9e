package lock

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Info describes a lock as the backend sees it.
type Info struct {
	Name string
	// Owner is the holder's owner id; empty when the lock is free.
	Owner string
	// Token is the newest fencing token given out for the name.
	Token uint64
	// Since is when the backend gave the grant; zero when it does not tell.
	Since time.Time
	// TTL is the time left unless renewed; negative when it never ends.
	TTL time.Duration
	// Meta is what the holder stored: "host" and "pid", and its own.
	Meta map[string]string
	// Waiting is how many processes wait, as far as the backend can tell.
	Waiting int
	// Local is how many goroutines of this process wait.
	Local int
}

// Held reports whether somebody has the lock.
func (i Info) Held() bool { return i.Owner != "" }

// Inspect describes the lock of that name. It fails with [ErrUnsupported] when
// the backend cannot tell.
func (c *Client) Inspect(ctx context.Context, name string) (Info, error) {
	backend, ok := c.backend.(driver.Inspector)
	if !ok {
		return Info{}, c.lacks("inspection")
	}
	if err := c.usable(ctx, name); err != nil {
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
		return nil, &InvalidError{"limit", fmt.Sprintf("is %d, the least is 1", limit)}
	}
	if err := c.usable(ctx, prefix+"-"); err != nil {
		return nil, err
	}
	found, err := backend.List(ctx, prefix, limit)
	if err != nil {
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
// holder learns of the loss at its next renewal. It reports whether the lock was
// held.
func (c *Client) ForceRelease(ctx context.Context, name string) (bool, error) {
	backend, ok := c.backend.(driver.Forcer)
	if !ok {
		return false, c.lacks("forced release")
	}
	if err := c.usable(ctx, name); err != nil {
		return false, err
	}
	held, err := backend.ForceRelease(ctx, name)
	if err != nil {
		return false, opError("force release", name, err)
	}
	return held, nil
}

// Check examines the backend's settings and says what they mean for the safety
// of locks, worst first.
func (c *Client) Check(ctx context.Context) ([]driver.Finding, error) {
	backend, ok := c.backend.(driver.Checker)
	if !ok {
		return nil, c.lacks("a check of settings")
	}
	if err := c.usable(ctx, "-"); err != nil {
		return nil, err
	}
	findings, err := backend.Check(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: check: %w", err)
	}
	return findings, nil
}

// usable reports what is wrong before the backend is asked.
func (c *Client) usable(ctx context.Context, name string) error {
	switch {
	case ctx == nil:
		return errNilContext()
	case isClosed(c.closed):
		return fmt.Errorf("lock: %w", ErrClosed)
	}
	return checkName(name)
}

func (c *Client) lacks(capability string) error {
	return fmt.Errorf("lock: %w: the backend has no %s", ErrUnsupported, capability)
}

func (c *Client) info(found driver.Info) Info {
	return Info{
		Name: found.Name, Owner: found.Owner, Token: found.Token, Since: found.Since, TTL: found.TTL,
		Meta: decodeMeta(found.Meta), Waiting: found.Waiting, Local: c.queues.waiting(found.Name),
	}
}
