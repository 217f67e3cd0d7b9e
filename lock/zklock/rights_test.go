package zklock_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestACheckOverlooksMissingPermissions: it tells which one keeps a lock from being taken, as the refusal does, and
// changes nothing.
func TestACheckOverlooksMissingPermissions(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	others := raw(t, server)
	for path, perms := range map[string]int32{
		"/shown": zk.PermRead, "/hidden": zk.PermCreate | zk.PermDelete, "/ours": zk.PermAll,
	} {
		if _, err := others.Create(path, nil, 0, zk.WorldACL(perms)); err != nil {
			t.Fatal(err)
		}
	}
	keeps := []zklock.ACL{{Perms: zklock.Create | zklock.Read, Scheme: "world", ID: "anyone"}}
	for _, c := range []struct {
		opts          zklock.Options
		level         driver.Level
		found, failed string
	}{
		{zklock.Options{Root: "/shown"}, driver.Danger, "create is missing on /shown", "create on /shown"},
		{zklock.Options{Root: "/shown/app/lock"}, driver.Danger, "create is missing on /shown", "create on /shown"},
		{zklock.Options{Root: "/hidden"}, driver.Notice, "read is missing on /hidden", "read on /hidden"},
		{zklock.Options{Root: "/ours", ACL: keeps}, driver.Danger, "delete is missing on /ours/", "delete on /ours/a"},
	} {
		b := open(t, &c.opts, server.Addr())
		findings, err := b.(driver.Checker).Check(ctxFor(t))
		if err != nil || !slices.ContainsFunc(findings, func(f driver.Finding) bool {
			return f.Level == c.level && strings.Contains(f.What, c.found)
		}) || c.level < driver.Danger && findings[0].Level == driver.Danger {
			t.Errorf("%s: %v, %v", c.opts.Root, findings, err)
		}
		if there, stat, err := others.Exists(c.opts.Root); err != nil || there && stat.NumChildren > 0 {
			t.Errorf("%s: a check leaves something, %v", c.opts.Root, err)
		}
		err = takeReleaseAndList(t, b)
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%s: want %q, got %v", c.opts.Root, c.failed, err)
		}
	}
}

// takeReleaseAndList returns the first error.
func takeReleaseAndList(t *testing.T, b driver.Backend) error {
	t.Helper()
	g, err := b.Acquire(ctxFor(t), request("a", "me:1"))
	if err == nil {
		_, err = b.Release(ctxFor(t), g)
	}
	if err == nil {
		_, err = b.(driver.Inspector).List(ctxFor(t), "", 10)
	}
	return err
}
