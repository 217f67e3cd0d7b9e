package etcdlock_test

import (
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestRenewalWrites: a renewal reads, and writes nothing: the lease is prolonged once, and the keys are compared, in as
// few requests as that can be done. The same goes for who was granted the lock after waiting.
func TestRenewalWrites(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	wire := &counted{}
	b := newBackend(t, connectCounted(t, wire, m.Addr()), nil)
	var grants []driver.Grant
	for i := range 100 {
		grants = append(grants, mustAcquire(t, b, request(fmt.Sprint("a", i), i)))
	}
	first := mustAcquire(t, b, request("line", 1000))
	waiting := request("line", 1001)
	waiting.Waits = true
	wantRefused(t, b, waiting)
	mustRelease(t, b, first)
	grants = append(grants, mustAcquire(t, b, waiting), mustAcquire(t, b, requestIn(driver.Shared, "reads", 1)))
	before, err := client.Get(contextFor(t, soon), "a")
	if err != nil {
		t.Fatal(err)
	}
	sent, prolonged := wire.all(), wire.of("LeaseKeepAlive")
	for i, err := range b.Renew(contextFor(t, soon), grants) {
		if err != nil {
			t.Errorf("renewal %d: %v", i, err)
		}
	}
	if n, m := wire.all()-sent, wire.of("LeaseKeepAlive")-prolonged; n != 3 || m != 1 {
		t.Errorf("%d requests, by which the lease was prolonged %d times; want 3, and once", n, m)
	}
	after, err := client.Get(contextFor(t, soon), "a")
	if err != nil || after.Header.Revision != before.Header.Revision {
		t.Errorf("the revision was %d and is %d, %v", before.Header.Revision, after.Header.Revision, err)
	}
	for _, g := range grants {
		mustRelease(t, b, g)
	}
}
