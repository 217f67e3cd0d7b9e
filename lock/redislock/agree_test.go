package redislock_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// twins are two stores that are asked for the same.
type twins struct {
	memory, redis driver.Backend
	name          string
	random        *rand.Rand
	asked         []driver.Request
	released      map[string]bool // nobody asks again under such an owner
	steps         []string
}

// TestRedisDiffersFromMemory: readers, writers and permits in any order, copies of requests among them.
func TestRedisDiffersFromMemory(t *testing.T) {
	redis := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	for seed := range uint64(300) {
		p := &twins{
			memory: memlock.NewBackend(nil), redis: redis, name: fmt.Sprint("n", seed),
			random: rand.New(rand.NewPCG(seed, 1)), released: make(map[string]bool),
		}
		for range 24 {
			if !p.step(t) {
				t.Fatalf("seed %d:\n%s", seed, strings.Join(p.steps, "\n"))
			}
		}
	}
}

// step asks both for something, and reports whether they agree.
func (p *twins) step(t *testing.T) bool {
	t.Helper()
	what, one, other := p.askBoth(t)
	p.steps = append(p.steps, fmt.Sprintf("%-70s %s", what, verdict(one)))
	if verdict(one) != verdict(other) {
		t.Errorf("memory says %v, redis %v", one, other)
		return false
	}
	in, on := p.holders(t, p.memory), p.holders(t, p.redis)
	if !slices.Equal(in, on) {
		t.Errorf("memory has %q, redis %q", in, on)
		return false
	}
	return true
}

func (p *twins) askBoth(t *testing.T) (what string, one, other error) {
	t.Helper()
	n := p.random.IntN(10)
	if n < 6 || len(p.asked) == 0 {
		req := p.request()
		_, one = p.memory.Acquire(t.Context(), req)
		_, other = p.redis.Acquire(t.Context(), req)
		return fmt.Sprintf("%s %s up=%t over=%s waits=%t %d/%d", req.Mode, req.Owner[len(uuidA):],
			req.Upgradeable, strings.TrimPrefix(req.Over, uuidA), req.Waits, req.Permits, req.Limit), one, other
	}
	req := p.asked[p.random.IntN(len(p.asked))]
	g := req.Ungranted()
	what = g.Mode.String() + " " + g.Owner[len(uuidA):]
	if n == 9 {
		one, other = p.memory.Renew(t.Context(), []driver.Grant{g})[0], p.redis.Renew(t.Context(), []driver.Grant{g})[0]
		return "renew " + what, one, other
	}
	p.released[g.Owner] = true
	_, one = p.memory.Release(t.Context(), g)
	_, other = p.redis.Release(t.Context(), g)
	return "release " + what, one, other
}

// request returns one that was made before, or a new one.
func (p *twins) request() driver.Request {
	if len(p.asked) > 0 && p.random.IntN(3) == 0 {
		if req := p.asked[p.random.IntN(len(p.asked))]; !p.released[req.Owner] {
			return req
		}
	}
	req := request(p.name, fmt.Sprint(uuidA, ":", len(p.asked)+1))
	switch req.Mode = driver.Mode(1 + p.random.IntN(2)); {
	case p.random.IntN(20) == 0 || len(p.asked) > 0 && p.asked[0].Mode == driver.Permit:
		req.Mode, req.Limit = driver.Permit, 1+p.random.IntN(6)
		req.Permits = 1 + p.random.IntN(req.Limit)
	case req.Mode == driver.Shared && p.random.IntN(3) == 0:
		req.Upgradeable = true
		fallthrough
	default:
		req.Waits = p.random.IntN(2) == 0
		if !req.Upgradeable && len(p.asked) > 0 && p.random.IntN(2) == 0 {
			req.Over = p.asked[p.random.IntN(len(p.asked))].Owner
		}
	}
	p.asked = append(p.asked, req)
	return req
}

// verdict says what came of a call, as far as stores must agree.
func verdict(err error) string {
	for _, class := range []error{
		nil, driver.ErrHeld, driver.ErrLost, driver.ErrKind, driver.ErrBelow, driver.ErrRefused,
	} {
		if errors.Is(err, class) {
			return fmt.Sprint(class)
		}
	}
	return "else: " + err.Error()
}

// holders says who has what, in any order.
func (p *twins) holders(t *testing.T, b driver.Backend) []string {
	t.Helper()
	info, err := b.(driver.Inspector).Inspect(t.Context(), p.name)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, h := range info.Holders {
		all = append(all, fmt.Sprint(info.Kind, h.Owner, h.Mode, h.Permits, h.Upgradeable))
	}
	slices.Sort(all)
	return all
}
