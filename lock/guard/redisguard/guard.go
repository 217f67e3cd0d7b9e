package redisguard

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Options tune a [Guard]. Nil and the zero value are the defaults.
type Options struct {
	// Prefix begins the keys of tokens. Defaults to "bedrock:guard:".
	Prefix string
	// TTL lets a token be forgotten this long after it was last shown, at least 1s. It must be longer than any holder
	// may be paused and any request may be on its way, or late writes are let in. Defaults to never. A token that
	// another guard keeps for longer, or for ever, stays for as long as that.
	TTL time.Duration
	// Observer is told of every refusal, see [lock.EventRefused]. Defaults to nobody.
	Observer lock.Observer
}

// Guard remembers the newest token of each name in Redis. It may be used by many goroutines at once. It is a
// [guard.Store].
type Guard struct {
	conn          redisconn.Conn
	opts          Options
	announce, set *Script
}

// New returns a guard over the Redis that has the data. The client wrapped in conn stays the caller's.
func New(conn redisconn.Conn, opts *Options) (*Guard, error) {
	if err := redisconn.CheckKeeps(conn); err != nil {
		return nil, fmt.Errorf("redisguard: %w", err)
	}
	g := &Guard{
		conn: conn, announce: NewScript(""),
		set: NewScript("return redis.call('SET', KEYS[1], ARGV[1])"),
	}
	if opts != nil {
		g.opts = *opts
	}
	if g.opts.Prefix == "" {
		g.opts.Prefix = "bedrock:guard:"
	}
	switch {
	case strings.ContainsAny(g.opts.Prefix, "{}"):
		return nil, fmt.Errorf("redisguard: %w", input.Errorf("prefix", "%q: must have no braces", g.opts.Prefix))
	case g.opts.TTL != 0 && g.opts.TTL < time.Second:
		return nil, fmt.Errorf("redisguard: %w", input.Errorf("ttl", "%v: want none or at least 1s", g.opts.TTL))
	}
	return g, nil
}

// Announce remembers a token. A newer one that is known is a [*guard.StaleError]. When it returns nil no script
// of an older holder will be run any more.
func (g *Guard) Announce(ctx context.Context, t guard.Ticket) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("redisguard: announce: %w", err)
	}
	reply, err := redisconn.RepeatHarmless(ctx, func() (redisconn.Reply, error) {
		return g.eval(ctx, t, g.announce, nil, nil)
	})
	if err != nil {
		return fmt.Errorf("redisguard: announce %q: %w", t.Name, err)
	}
	_, err = g.resultOf(ctx, t, reply)
	return err
}

// Set sets a key to a value unless the token is stale, which is a [*guard.StaleError]. Another error leaves open
// whether it was set, unless [redisconn.AftermathOf] knows.
func (g *Guard) Set(ctx context.Context, t guard.Ticket, key, value string) error {
	_, err := g.Run(ctx, t, g.set, []string{key}, value)
	return err
}

// Run runs a script unless the token is stale, which is a [*guard.StaleError], and returns what it returned. Another
// error leaves open whether it was run, unless [redisconn.AftermathOf] knows. In a cluster the keys must be in the
// slot of the lock's name.
func (g *Guard) Run(
	ctx context.Context, t guard.Ticket, s *Script, keys []string, args ...string,
) (redisconn.Reply, error) {
	err := t.Check()
	switch {
	case err != nil:
	case s == nil:
		err = &input.Error{Field: "s", Problem: "is nil"}
	default:
		err = g.checkKeys(t.Name, keys)
	}
	if err != nil {
		return redisconn.Reply{}, fmt.Errorf("redisguard: run: %w", err)
	}
	reply, err := g.eval(ctx, t, s, keys, args)
	if err != nil {
		return redisconn.Reply{}, fmt.Errorf("redisguard: run under %q: %w", t.Name, err)
	}
	return g.resultOf(ctx, t, reply)
}

func (g *Guard) eval(
	ctx context.Context, t guard.Ticket, s *Script, keys, args []string,
) (redisconn.Reply, error) {
	own := []string{strconv.FormatUint(t.Token, 10), strconv.FormatInt(g.opts.TTL.Milliseconds(), 10)}
	return g.conn.Eval(ctx, s.whole, append([]string{g.keyOf(t.Name)}, keys...), append(own, args...))
}

// resultOf reads what a script has said.
func (g *Guard) resultOf(ctx context.Context, t guard.Ticket, reply redisconn.Reply) (redisconn.Reply, error) {
	switch {
	case reply.Len() == 2 && reply.At(0).Str == "stale":
		newest, err := strconv.ParseUint(reply.At(1).Str, 10, 64)
		if err != nil {
			return redisconn.Reply{}, fmt.Errorf("redisguard: %q: the newest token is no number: %w", t.Name, err)
		}
		return redisconn.Reply{}, guard.Observed(ctx, g.opts.Observer, guard.Compare(t, newest))
	case reply.Len() == 0:
		return redisconn.Reply{}, fmt.Errorf("redisguard: %q: the script said nothing", t.Name)
	case reply.Len() == 1: // Lua's nil ends a list
		return redisconn.Reply{Nil: true}, nil
	}
	return reply.At(1), nil
}
