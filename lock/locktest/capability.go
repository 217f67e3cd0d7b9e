package locktest

import (
	"slices"
	"testing"
)

// Capability is something a backend or its test server may lack.
type Capability string

// The capabilities that can be exempted. The name of a behaviour can be exempted
// like a capability.
const (
	Inspecting    Capability = "inspecting"    // driver.Inspector
	Forcing       Capability = "forcing"       // driver.Forcer
	Watching      Capability = "watching"      // driver.Waiter
	Passing       Capability = "passing"       // driver.Successor
	Telling       Capability = "telling"       // driver.Notifier
	Sharing       Capability = "sharing"       // the modes of a read-write lock
	Permitting    Capability = "permitting"    // the mode of a semaphore
	Ordering      Capability = "ordering"      // Request.Fair
	Voting        Capability = "voting"        // Request.Above and Request.Age
	Identifying   Capability = "identifying"   // driver.Identifier
	Bundling      Capability = "bundling"      // driver.Bundler
	Noting        Capability = "noting"        // driver.Annotator
	Downgrading   Capability = "downgrading"   // driver.Downgrader
	Latching      Capability = "latching"      // driver.Latches
	Pleading      Capability = "pleading"      // driver.Pleader, and driver.Notifier
	Attending     Capability = "attending"     // driver.Attender
	Freezing      Capability = "freezing"      // Server.Freeze
	Restarting    Capability = "restarting"    // Server.Restart
	Disconnecting Capability = "disconnecting" // Server.Disconnect
	Striking      Capability = "striking"      // Server.Nemeses
	Lagging       Capability = "lagging"       // Server.Lag
)

// disturbing are the capabilities whose use is felt by everybody on the server.
var disturbing = [...]Capability{Freezing, Restarting, Disconnecting, Striking}

// disturbs reports whether the behaviour is felt by others on the same server.
func (b *behaviour) disturbs() bool {
	return slices.ContainsFunc(b.needs, func(c Capability) bool { return slices.Contains(disturbing[:], c) })
}

// exempts returns the reason why the backend need not show the behaviour.
func (b *Backend) exempts(behaviour *behaviour) (reason string, exempt bool) {
	for _, c := range append(behaviour.needs, Capability(behaviour.name)) {
		if reason, exempt = b.Exempt[c]; exempt {
			return reason, true
		}
	}
	if _, lacks := b.Exempt[behaviour.lacks]; behaviour.lacks != "" && !lacks {
		return "only a backend without " + string(behaviour.lacks) + " can fail here", true
	}
	return "", false
}

// checkExempt fails a test that exempts its backend from what nobody asks for: a name may have changed.
func (b *Backend) checkExempt(t testing.TB) {
	t.Helper()
	asked := make(map[Capability]bool)
	for _, behaviour := range behaviours() {
		asked[Capability(behaviour.name)] = true
		for _, c := range append(behaviour.needs, behaviour.lacks) {
			asked[c] = true
		}
	}
	for c := range b.Exempt {
		if !asked[c] {
			t.Errorf("nobody asks for %q, from which the backend is exempt", c)
		}
	}
}

// isAble reports whether the server can do what c stands for.
func (s *Server) isAble(c Capability) bool {
	switch c {
	case Freezing:
		return s.Freeze != nil && s.Thaw != nil
	case Restarting:
		return s.Restart != nil
	case Disconnecting:
		return s.Disconnect != nil
	case Striking:
		return len(s.Nemeses) > 0
	case Lagging:
		return s.Lag != nil
	default:
		return true // the backend answers for itself, with ErrUnsupported
	}
}
