package zklock_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestLostGrantsAreAttended: the line is cut when locks have just been granted, for longer than the session lasts. When
// all are lost and given up, nothing of them is left running in a client that goes on.
func TestLostGrantsAreAttended(t *testing.T) {
	proxy := proxyTo(t, testenv.StartZooKeeper(t, nil)[0].Addr())
	locks := connect(t, &zklock.Options{Session: 2 * time.Second, Lock: lock.Options{TTL: 1500 * time.Millisecond}},
		proxy.Addr())
	var leases []*lock.Lease
	for i := range 20 {
		lease, err := locks.Mutex("job-"+strconv.Itoa(i), nil).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, lease)
	}
	proxy.Cut()
	for _, lease := range leases {
		<-lease.Context().Done()
		_ = lease.Unlock(ctxFor(t)) // it is lost
	}
	proxy.Heal()
	takeAndRelease(t, locks, "other")
	eventually(t, "nobody attends to what is lost", func() bool { return attending() == 0 })
}

// attending is how many goroutines follow the fate of a grant.
func attending() int {
	stacks := make([]byte, 4<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "attendPlace(")
}
