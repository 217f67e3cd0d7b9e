package etcdlock_test

import (
	"errors"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// restricted has a member ask for passwords, and returns a client that may use what begins with a text.
func restricted(t *testing.T, prefix string) *clientv3.Client {
	t.Helper()
	return restrictedTo(t, prefix, clientv3.PermissionType(clientv3.PermReadWrite))
}

// restrictedTo is that of a client that may only read, or only write.
func restrictedTo(t *testing.T, prefix string, permission clientv3.PermissionType) *clientv3.Client {
	t.Helper()
	m, root := oneServer(t)
	ctx := contextFor(t, soon)
	_, err := root.RoleAdd(ctx, "locks")
	if err == nil {
		_, err = root.RoleGrantPermission(ctx, "locks", prefix, clientv3.GetPrefixRangeEnd(prefix), permission)
	}
	for _, user := range [][2]string{{"root", "root"}, {"shop", "locks"}} {
		if err == nil {
			_, err = root.UserAdd(ctx, user[0], "open-sesame")
		}
		if err == nil {
			_, err = root.UserGrantRole(ctx, user[0], user[1])
		}
	}
	if err == nil {
		_, err = root.AuthEnable(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{m.Addr()}, Username: "shop", Password: "open-sesame", Context: ctx,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestPermissionsDoNotSuffice: a role that may use the prefix can do everything, and what it may not do is refused.
func TestPermissionsDoNotSuffice(t *testing.T) {
	t.Parallel()
	client := restricted(t, etcdlock.DefaultPrefix)
	locks, b := newLocks(t, client, nil), newBackend(t, client, nil)
	held := mustAcquire(t, b, request("a", 1))
	got := make(chan *lock.Lease, 1)
	go func() {
		lease, err := locks.Mutex("a", nil).Lock(contextFor(t, soon))
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	eventually(t, "it waits", func() bool { return len(keysOf(t, client, etcdlock.DefaultPrefix)) == 2 })
	if errs := b.Renew(contextFor(t, soon), []driver.Grant{held}); errs[0] != nil {
		t.Errorf("renew: %v", errs[0])
	}
	mustRelease(t, b, held)
	if lease := <-got; lease != nil {
		mustUnlock(t, lease)
	}
	other := newBackend(t, client, compatible())
	if _, err := other.Acquire(contextFor(t, soon), request("job", 1)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a lock elsewhere: want ErrRefused, got %v", err)
	}
	w, err := other.(driver.Waiter).Watch(contextFor(t, soon), "job", driver.Mutex)
	if !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a watch elsewhere: want ErrRefused, got %v, %v", w, err)
	}
}

// TestCheckOverlooksAMissingPermission: whose role does not suffice is told so before the first lock, and nothing is
// written for that.
func TestCheckOverlooksAMissingPermission(t *testing.T) {
	t.Parallel()
	const readWrite = clientv3.PermissionType(clientv3.PermReadWrite)
	for what, test := range map[string]struct {
		prefix     string
		permission clientv3.PermissionType
		missing    bool
	}{
		"all it needs":   {etcdlock.DefaultPrefix, readWrite, false},
		"read alone":     {etcdlock.DefaultPrefix, clientv3.PermissionType(clientv3.PermRead), true},
		"write alone":    {etcdlock.DefaultPrefix, clientv3.PermissionType(clientv3.PermWrite), true},
		"another prefix": {"elsewhere/", readWrite, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			client := restrictedTo(t, test.prefix, test.permission)
			before := revisionOf(t, client)
			findings, err := newBackend(t, client, nil).(driver.Checker).Check(contextFor(t, soon))
			if err != nil {
				t.Fatal(err)
			}
			missing := strings.Contains(findings[0].What, "may not read and write")
			if missing != test.missing || missing && findings[0].Level != driver.Danger {
				t.Errorf("%+v", findings)
			}
			if after := revisionOf(t, client); after != before {
				t.Errorf("the store is at revision %d, and was at %d", after, before)
			}
		})
	}
}

// revisionOf returns the revision of the store, which is told whoever asks.
func revisionOf(t *testing.T, client *clientv3.Client) int64 {
	t.Helper()
	resp, err := client.Status(contextFor(t, soon), client.Endpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}
