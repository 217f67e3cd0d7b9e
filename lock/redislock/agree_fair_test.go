package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// twinLines are the lines of one name in two stores that are asked for the same.
type twinLines struct {
	name   string
	random *rand.Rand
	asked  []string
	over   map[string]bool // nobody asks again under such an owner
}

// TestLinesDifferFromMemory: who comes, asks again, tries, leaves and is forced out, in any order.
func TestLinesDifferFromMemory(t *testing.T) {
	redis := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	redis.(driver.Successor).Inherit(func(driver.Grant) {})
	awaitGrants(t, redis)
	for seed := range uint64(300) {
		memory := memlock.NewBackend(nil)
		memory.(driver.Successor).Inherit(func(driver.Grant) {})
		l := &twinLines{
			name: fmt.Sprint("n", seed), random: rand.New(rand.NewPCG(seed, 2)), over: make(map[string]bool),
		}
		var steps []string
		for range 30 {
			what, act := l.step()
			in, on := act(t, memory)+l.describe(t, memory), act(t, redis)+l.describe(t, redis)
			steps = append(steps, what+": "+in)
			if in != on {
				t.Fatalf("seed %d: memory says %s\nredis says %s\n%s", seed, in, on, strings.Join(steps, "\n"))
			}
		}
	}
}

// awaitGrants waits until the backend hears what it is granted.
func awaitGrants(t *testing.T, b driver.Backend) {
	t.Helper()
	mustAcquire(t, b, waiting(uuidA+":1"))
	awaitStanding(t, b, uuidA+":2")
	mustRelease(t, b, driver.Grant{Name: "a", Owner: uuidA + ":1"})
	mustRelease(t, b, driver.Grant{Name: "a", Owner: uuidA + ":2"})
}

// step chooses something to do, and says what.
func (l *twinLines) step() (what string, act func(t *testing.T, b driver.Backend) string) {
	n := l.random.IntN(12)
	if n == 0 {
		return "force", func(t *testing.T, b driver.Backend) string {
			held, err := b.(driver.Forcer).ForceRelease(t.Context(), l.name)
			return fmt.Sprint(held, err)
		}
	}
	owner := l.owner()
	if n < 5 {
		l.over[owner] = true
		return "release " + owner[len(uuidA):], func(t *testing.T, b driver.Backend) string {
			_, err := b.Release(t.Context(), driver.Grant{Name: l.name, Owner: owner, TTL: time.Minute})
			return verdict(err)
		}
	}
	req := request(l.name, owner)
	req.Fair, req.Waits = !strings.HasSuffix(owner, "5"), n > 6
	ask := driver.Backend.Acquire
	if n > 9 && req.Fair {
		ask = func(b driver.Backend, ctx context.Context, req driver.Request) (driver.Grant, error) {
			return b.(driver.Successor).Stand(ctx, req)
		}
	}
	return fmt.Sprintf("ask %s fair=%t waits=%t unasked=%t", owner[len(uuidA):], req.Fair, req.Waits, n > 9),
		func(t *testing.T, b driver.Backend) string {
			_, err := ask(b, t.Context(), req)
			if held, ok := errors.AsType[*driver.HeldError](err); ok {
				return fmt.Sprint(
					"held by ", held.Owner, " waits=", held.Waits, " place=", held.Place, " claim=", held.Claim)
			}
			return verdict(err)
		}
}

// owner returns one that was there before, or a new one.
func (l *twinLines) owner() string {
	if len(l.asked) > 0 && l.random.IntN(3) > 0 {
		if owner := l.asked[l.random.IntN(len(l.asked))]; !l.over[owner] {
			return owner
		}
	}
	owner := fmt.Sprint(uuidA, ":", len(l.asked)+1)
	l.asked = append(l.asked, owner)
	return owner
}

// describe says who has the lock, and who waits.
func (l *twinLines) describe(t *testing.T, b driver.Backend) string {
	t.Helper()
	info, err := b.(driver.Inspector).Inspect(t.Context(), l.name)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint("; ", info.Waiting, " wait, has it:")
	for _, h := range info.Holders {
		text += h.Owner[len(uuidA):]
	}
	text += ", in line:"
	for _, w := range info.Line {
		text += w.Owner[len(uuidA):]
	}
	return text
}
