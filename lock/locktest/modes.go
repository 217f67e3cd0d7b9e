package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// modes: a backend refuses what it does not keep. One that grants a mode it has not heard
// of gives readers and semaphores something else than they rely on.
func modes() []behaviour {
	return []behaviour{
		{name: "SharedModeIsIgnored", run: sharedModeIsIgnored, lacks: Sharing},
		{name: "PermitModeIsIgnored", run: permitModeIsIgnored, lacks: Permitting},
		{name: "FairnessIsIgnored", run: fairnessIsIgnored, lacks: Ordering},
		{name: "VoteIsIgnored", run: voteIsIgnored, lacks: Voting},
	}
}

func sharedModeIsIgnored(e *env) {
	req := e.request(e.name("a"), e.long)
	req.Mode = driver.Shared
	e.unsupported(req)
}

func permitModeIsIgnored(e *env) {
	req := e.request(e.name("a"), e.long)
	req.Mode, req.Permits, req.Limit = driver.Permit, 1, 3
	e.unsupported(req)
}

func fairnessIsIgnored(e *env) {
	req := e.request(e.name("a"), e.long)
	req.Fair = true
	e.unsupported(req)
}

func voteIsIgnored(e *env) {
	above, aged := e.request(e.name("above"), e.long), e.request(e.name("age"), e.long)
	above.Above, aged.Age = 1, time.Millisecond
	e.unsupported(above)
	e.unsupported(aged)
}

// unsupported checks that the store refuses a request, and that nothing comes of it. There
// is no behaviour yet that says what else a store would have to do.
func (e *env) unsupported(req driver.Request) {
	e.Helper()
	if err := req.Check(); err != nil {
		e.Fatal(err)
	}
	g, err := e.store().Acquire(e.contextFor(soon), req)
	if !errors.Is(err, driver.ErrUnsupported) {
		e.Errorf("asked for %+v: want ErrUnsupported, got token %d and %v", req, g.Token, err)
	}
	e.free(e.client(nil), req.Name)
}
