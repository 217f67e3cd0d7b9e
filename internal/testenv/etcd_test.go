package testenv_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// etcdctl runs a command against members of a cluster.
func etcdctl(t *testing.T, c *testenv.EtcdCluster, args ...string) string {
	t.Helper()
	bin := testenv.Program(t, "etcdctl", "package etcd-client")
	cmd := exec.Command(bin, append([]string{"--endpoints=" + strings.Join(c.Endpoints(), ",")}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("etcdctl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestEtcdForgetsItsData: a member that is started again has what was written, unless it is to have lost it.
func TestEtcdForgetsItsData(t *testing.T) {
	t.Parallel()
	c := testenv.StartEtcd(t, nil)
	etcdctl(t, c, "put", "a", "one")
	c.Members[0].Restart(true)
	if got := etcdctl(t, c, "get", "a", "--print-value-only"); strings.TrimSpace(got) != "one" {
		t.Errorf("started again it has %q", got)
	}
	c.Members[0].Restart(false)
	if got := etcdctl(t, c, "get", "a", "--print-value-only"); got != "" {
		t.Errorf("started empty it has %q", got)
	}
}

// TestEtcdEndsWithOneMember: two of three go on.
func TestEtcdEndsWithOneMember(t *testing.T) {
	t.Parallel()
	c := testenv.StartEtcd(t, &testenv.EtcdOptions{Members: 3})
	etcdctl(t, c, "put", "a", "one")
	c.Members[0].Kill()
	c.Members = c.Members[1:]
	c.AwaitReady()
	etcdctl(t, c, "put", "a", "two")
}
