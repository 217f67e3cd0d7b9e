package locks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// The backends that are no Redis: one server each, which keeps its data, or a file.

func (s *scene) etcd(host *stage.Host) {
	member := testenv.StartEtcd(host, nil).Members[0]
	s.on("etcd://"+member.Addr(), member.Addr())
	s.Slack = etcdSlack
	s.faults = faultsOf(host, member, func() { member.Restart(true) })
}

// etcdSlack is for how much longer than a lease etcd may keep what a client has: leases are counted in seconds, with
// one to spare, and a server that has started again counts them anew.
const etcdSlack = 4 * time.Second

func (s *scene) zooKeeper(host *stage.Host) {
	server := testenv.StartZooKeeper(host, nil)[0]
	s.on("zk://"+server.Addr()+"?session="+zooKeeperSession.String(), server.Addr())
	s.AfterDeath = zooKeeperDeath
	s.faults = faultsOf(host, server, server.Restart)
}

// zooKeeperSession is as long as leases must have room in it. The locks of a client that has died are free after that.
const (
	zooKeeperSession = 45 * time.Second
	zooKeeperDeath   = zooKeeperSession + 2*time.Second
)

func (s *scene) postgres(host *stage.Host) {
	server := testenv.StartPostgres(host, nil)
	server.CreateDatabase("torture")
	s.database(host, server, server.URL("torture"))
}

func (s *scene) mariadb(host *stage.Host) {
	server := testenv.StartMariaDB(host, nil)
	server.CreateDatabase("torture")
	s.database(host, server, server.URL("torture"))
}

func (s *scene) database(host *stage.Host, server steadyServer, url string) {
	s.on(url, server.Addr())
	s.burden = burdenOfTables
	s.makeTables(host)
	s.Transactional = true
	s.faults = faultsOf(host, server, server.Restart)
}

// burdenOfTables: each lease is several transactions.
const burdenOfTables = 4

// makeTables makes the tables before everybody does at once.
func (s *scene) makeTables(host *stage.Host) {
	backend, err := lockurl.New(s.url)
	if err != nil {
		host.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := backend.MakeTables(ctx); err != nil {
		host.Fatal(err)
	}
}

// file is a SQLite file, to which all go themselves.
func (s *scene) file(dir string) {
	path := filepath.Join(dir, "locks.db")
	s.on("sqlite:"+path, "")
	s.Transactional = true
	s.faults = fileFaults(path)
}

// on says where the locks are, and where proxies lead to.
func (s *scene) on(url, addr string) {
	s.url, s.front, s.addr, s.libraries = url, url, addr, []string{viaURL, viaURL}
}

// theirOther is a store that is no Redis, and that somebody else runs.
func (s *scene) theirOther(url string) error {
	scheme, rest, _ := strings.Cut(url, ":")
	if strings.Contains(rest, "profile=") {
		return errors.New("torture needs locks of all kinds: leave the profile out")
	}
	s.libraries = []string{viaURL, viaURL}
	switch scheme {
	case "etcd":
		s.Slack = etcdSlack
	case "zk":
		if strings.Contains(rest, "session=") {
			return fmt.Errorf("torture needs sessions of %v: leave the session out", zooKeeperSession)
		}
		s.url = withOption(url, "session="+zooKeeperSession.String())
		s.front, s.AfterDeath = s.url, zooKeeperDeath
	case "sqlite":
		s.Transactional = true
	default:
		s.Transactional, s.burden = true, burdenOfTables
	}
	return nil
}

func withOption(url, option string) string {
	if strings.Contains(url, "?") {
		return url + "&" + option
	}
	return url + "?" + option
}

// steadyServer is one that can be started again.
type steadyServer interface {
	stage.Steady

	Restart()
}

// faultsOf are those of a server whose data outlive it. While it is away leases may be lost, and all may have to wait.
func faultsOf(host *stage.Host, server stage.Steady, restart func()) []nemesis.Fault {
	frozen, killed := stage.SteadyFaults(host, "server", server, restart)
	both := []nemesis.Fault{frozen, killed}
	for i := range both {
		both[i].Excuses, both[i].Weight = nemesis.Excuses{Loss: true, Wait: true}, 2
	}
	return both
}
