package testenv_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestZooKeeperStandsAlone(t *testing.T) {
	t.Parallel()
	s := testenv.StartZooKeeper(t, nil)[0]
	if answer := s.Ask("srvr"); !strings.Contains(answer, "Mode: standalone") || s.IsLeader() {
		t.Errorf("it says %q", answer)
	}
	for name, again := range map[string]func(){"restarted": s.Restart, "wiped": s.Wipe} {
		if again(); !strings.Contains(s.Ask("srvr"), "Mode: standalone") {
			t.Errorf("%s, it does not serve", name)
		}
	}
	s.Freeze()
	if answer := s.Ask("ruok"); answer != "" {
		t.Errorf("paused, it says %q", answer)
	}
	s.Thaw()
	if answer := s.Ask("ruok"); answer != "imok" {
		t.Errorf("it says %q", answer)
	}
	s.Kill()
	if conn, err := net.DialTimeout("tcp", s.Addr(), time.Second); err == nil {
		_ = conn.Close()
		t.Error("a killed server takes connections")
	}
}

func TestZooKeeperEnsembleElectsAnother(t *testing.T) {
	t.Parallel()
	servers := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{Servers: 3})
	leader := func() (found *testenv.ZooKeeperServer) {
		for _, s := range servers {
			if s.IsLeader() {
				found = s
			}
		}
		return found
	}
	first := leader()
	if first == nil {
		t.Fatal("three serve, and none leads")
	}
	first.Kill()
	for end := time.Now().Add(20 * time.Second); leader() == nil; {
		if time.Now().After(end) {
			t.Fatal("two of three have no leader")
		}
	}
	first.Restart()
}
