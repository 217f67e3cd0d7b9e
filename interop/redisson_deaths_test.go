package interop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// holdsAllAt has this program be another one, which takes all that everyGoDies wants on the servers of these addresses,
// and keeps it until it is killed; publishesBy is its way to publish.
const (
	holdsAllAt  = "BEDROCK_INTEROP_HOLDS_ALL_AT"
	publishesBy = "BEDROCK_INTEROP_PUBLISHES_BY"
)

// overAfterDeath is the time within which who waits has the lock of one that was killed: when that one's time is over.
const overAfterDeath = watchdog + 4*time.Second

// thatHaveOwners are the kinds of which the servers know who has what: what the dead have comes back by itself.
func thatHaveOwners() []object {
	return slices.DeleteFunc(objects(), func(o object) bool { return o.plain })
}

// deaths are the names that one who is killed has of each kind.
func (o object) deaths(whose string) (names []string) {
	for i := range wakeUps {
		names = append(names, fmt.Sprint(o.test, "-", whose, "-", i))
	}
	return names
}

// everyJavaDies: a program is killed that has twenty locks of every kind. Go waits for all of them, and has each when
// its time is over.
func everyJavaDies(e *together) {
	dies := e.anotherJava()
	for _, o := range thatHaveOwners() {
		for i, name := range o.deaths("java") {
			dies.Want("true", "a", o.holds+":prepare", name, 0)
			dies.Want("true", fmt.Sprint(o.test, i), o.holds+":briefly", name, watchdog.Milliseconds())
		}
	}
	killed := make(chan struct{})
	var group sync.WaitGroup
	for _, o := range thatHaveOwners() {
		for _, name := range o.deaths("java") {
			_, waits := o.ours(e.locks, name)
			group.Go(func() { e.survives(o, name, waits, killed) })
		}
	}
	dies.Kill()
	close(killed)
	group.Wait()
	for _, o := range thatHaveOwners() {
		e.shows(o.name, matrix.JavaDies, wakeUps)
	}
}

// survives waits for what one has that is killed.
func (e *together) survives(o object, name string, waits wanted, killed <-chan struct{}) {
	ctx, cancel := context.WithTimeout(e.Context(), peer.Patience)
	defer cancel()
	h, err := waits(ctx, false)
	select {
	case <-killed:
	default:
		if o.holds != "permit" { // whose time may be over before
			e.Errorf("%s: %v, %v, while who has it lives", name, h, err)
		}
	}
	if err != nil {
		e.Errorf("%s: %v", name, err)
		return
	}
	if err := h.Unlock(context.WithoutCancel(ctx)); err != nil {
		e.Errorf("%s: %v", name, err)
	}
}

// everyGoDies: the same with a process of Bedrock, whose leases live as long as Java's.
func everyGoDies(e *together) {
	for _, o := range thatHaveOwners() {
		for _, name := range o.deaths("go") {
			e.java.Want("true", "a", o.holds+":prepare", name, 0)
		}
	}
	kill := e.startHolder()
	waiting := make(map[string]string)
	for _, o := range e.thatOutliveGo() {
		for i, name := range o.deaths("go") {
			e.java.Want("false", "look", o.waits+":try", name, 0)
			thread := fmt.Sprint(o.test, i)
			waiting[name] = e.java.Begin(thread, o.waits+":try", name, int(peer.Patience.Milliseconds()))
		}
	}
	kill()
	killed := time.Now()
	for _, o := range e.thatOutliveGo() {
		for i, name := range o.deaths("go") {
			if answer := e.java.Await(waiting[name]); answer != "true" || time.Since(killed) > overAfterDeath {
				e.Errorf("%s: java got %q %s after its holder's death", name, answer, time.Since(killed))
			}
			e.java.Want("true", fmt.Sprint(o.test, i), o.waits+":unlock", name, 0)
		}
		e.shows(o.name, matrix.GoDies, wakeUps)
	}
}

// thatOutliveGo are the kinds for which Java asks again when a holder has died that had renewed its lock. The oldest
// version does not ask again for a fair one: it may take the time that is left for negative, and then waits for a
// message only, beside a holder in Java as well (corrected in Redisson 3.32).
func (e *together) thatOutliveGo() []object {
	return slices.DeleteFunc(thatHaveOwners(), func(o object) bool {
		return e.version == oldest && o.name == fairObject
	})
}

// startHolder starts a process that has all that everyGoDies wants.
func (e *together) startHolder() (kill func()) {
	e.Helper()
	program, err := os.Executable()
	if err != nil {
		e.Fatal(err)
	}
	cmd := exec.CommandContext(e.Context(), program)
	cmd.Env = append(os.Environ(), holdsAllAt+"="+e.addresses(""), fmt.Sprint(publishesBy, "=", int(e.goPublishes)))
	out, err := cmd.StdoutPipe()
	if err != nil {
		e.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		e.Fatalf("the holder says %q (%v)", line, err)
	}
	return func() {
		if err := cmd.Process.Kill(); err != nil {
			e.Fatal(err)
		}
		_ = cmd.Wait()
	}
}

// holdAllForEver is the program that is killed.
func holdAllForEver(addresses string) {
	var publishes redislock.PubSub
	_, _ = fmt.Sscan(os.Getenv(publishesBy), &publishes)
	conn := goredis.Wrap(connectTo(strings.Split(addresses, ",")))
	opts := &redislock.Options{TokenTTL: -1, PubSub: publishes, Lock: lock.Options{TTL: watchdog}}
	locks, err := redislock.New(conn, opts)
	for _, o := range thatHaveOwners() {
		for _, name := range o.deaths("go") {
			if err == nil {
				holds, _ := o.ours(locks, name)
				_, err = holds(context.Background(), true)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "ready")
	select {}
}
