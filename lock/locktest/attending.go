package locktest

import (
	"fmt"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// attending: through a backend of many clients each hears what others do to its own grants.
func attending() []behaviour {
	needs := []Capability{Attending, Forcing}
	return []behaviour{
		{name: "AttendantHearsNothing", run: attendantHearsNothing, needs: needs},
		{name: "AttendantHearsOfOthers", run: attendantHearsOfOthers, needs: needs},
	}
}

// attendant is a client of a backend that many share.
type attendant struct {
	e      *env
	shared *bedrocktest.Backend
	client string
	number int // of its grants
	heard  chan driver.Message
	stop   func()
}

// attendAs has a client hear what is told of its grants, of which it has had so many.
func (e *env) attendAs(shared *bedrocktest.Backend, client string, grants int) *attendant {
	e.Helper()
	a := &attendant{e: e, shared: shared, client: client, number: grants}
	a.heard = make(chan driver.Message, 64)
	var err error
	a.stop, err = shared.Attend(e.contextFor(soon), client, func(m driver.Message) {
		if m.Kind == driver.Missed {
			return
		}
		select {
		case a.heard <- m:
		default:
		}
	})
	if err != nil {
		e.Fatal(err)
	}
	if e.lacks(Telling) { // as backends on several stores, which begin at each of them in its own time
		e.eventually("it hears of a lock taken away", func() bool {
			// Each time another lock: a store that did not answer in time when one was taken away has it for a
			// moment longer.
			e.takeAway(a.grantFor(e.name(fmt.Sprint(warmUp, client, a.number))))
			select {
			case <-a.heard:
				return true
			case <-time.After(promptly):
				return false
			}
		})
	}
	return a
}

// grantFor takes a lock as this client.
func (a *attendant) grantFor(name string) driver.Grant {
	a.e.Helper()
	req := a.e.request(name, a.e.long)
	a.number++
	req.Owner, req.Meta = fmt.Sprint(a.client, ":", a.number), `{"host":"h"}` // as package lock has some
	return a.e.grant(a.shared, req)
}

// wantHeard waits for a message, which may have come before, or several times.
func (a *attendant) wantHeard(want driver.Message) {
	a.e.Helper()
	for late := time.After(soon); ; {
		select {
		case m := <-a.heard:
			if m == want {
				return
			}
			if !strings.HasPrefix(m.Name, a.e.name(warmUp)) && (m.Name != want.Name || m.Owner != want.Owner) {
				a.e.Fatalf("told of %+v, want %+v", m, want)
			}
		case <-late:
			a.e.Fatalf("nothing was told of %+v", want)
		}
	}
}

// takeAway has somebody else take a lock away from who has it.
func (e *env) takeAway(g driver.Grant) driver.Message {
	e.Helper()
	if held, err := e.store().ForceRelease(e.contextFor(soon), g.Name); !held || err != nil {
		e.Fatal(held, err)
	}
	return driver.Message{Name: g.Name, Owner: g.Owner, Kind: driver.Taken}
}

// attendantHearsNothing asks for what a client has, and takes it away.
func attendantHearsNothing(e *env) {
	a := e.attendAs(e.store(), newClientID(), 0)
	defer a.stop()
	g := a.grantFor(e.name("a"))
	if !e.lacks(Pleading) {
		p := driver.Plea{Reason: "now", Within: time.Minute}
		if told, err := e.store().Plead(e.contextFor(soon), g.Name, p); told == 0 || err != nil {
			e.Errorf("%d were told: %v", told, err)
		}
		a.wantHeard(driver.Message{Name: g.Name, Owner: g.Owner, Kind: driver.Asked, Plea: p})
	}
	a.wantHeard(e.takeAway(g))
}

// attendantHearsOfOthers takes locks away from a client that shares its backend with another one, and from one that
// does not want to know any more.
func attendantHearsOfOthers(e *env) {
	shared := e.store()
	a, b := e.attendAs(shared, newClientID(), 0), e.attendAs(shared, newClientID(), 0)
	defer b.stop()
	b.wantHeard(e.takeAway(b.grantFor(e.name("b"))))
	a.wantHeard(e.takeAway(a.grantFor(e.name("a")))) // and of nothing before
	a.stop()
	again := e.attendAs(shared, a.client, a.number)
	defer again.stop()
	again.wantHeard(e.takeAway(again.grantFor(e.name("c"))))
	for {
		select {
		case m := <-a.heard:
			if m.Name == e.name("c") {
				e.Errorf("it has stopped, and was told %+v", m)
			}
		default:
			return
		}
	}
}
