package child_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/child"
)

// adoptOrphans makes this process the parent of those whose own one has ended, as the first process of a container is.
func adoptOrphans(t *testing.T) {
	t.Helper()
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		t.Skip(errno)
	}
	t.Cleanup(func() { syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 0, 0) })
}

// TestTheDeadAreWaitedFor: nobody asks what became of them, and so the kernel has them in the group for ever.
func TestTheDeadAreWaitedFor(t *testing.T) {
	adoptOrphans(t)
	const grace = 10 * time.Second
	s := runScript(t, `(trap exit TERM; echo ready; while :; do sleep 0.05; done) & wait`, grace)
	s.wantLine("ready")
	began := time.Now()
	close(s.end)
	s.wantResult(child.Result{Code: 128 + int(syscall.SIGTERM), Ended: true})
	if took := time.Since(began); took > grace/2 {
		t.Errorf("all were gone at once, and it took %s", took)
	}
}
