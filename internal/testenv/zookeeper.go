package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	zookeeperInstall = "package zookeeper; run: make servers"
	zookeeperTick    = 200 * time.Millisecond
)

// ZooKeeperOptions says how servers of ZooKeeper are set up.
type ZooKeeperOptions struct {
	// Servers is how many make up the ensemble. Defaults to 1, which is a server that stands alone.
	Servers int
	// MaxSession is the longest time a session may last without a word. Defaults to 3 h, so that tests may have
	// leases of an hour; the default of ZooKeeper is 20 ticks.
	MaxSession time.Duration
	// ContainerCheck is how often containers that are empty are looked for. Defaults to 2 s.
	ContainerCheck time.Duration
	// Line returns where the others reach a server of an ensemble that listens for them at an address. Defaults to
	// that address.
	Line func(addr string) (through string)
}

// ZooKeeperServer is a real server of ZooKeeper owned by one test. What it has answered outlives the process, not
// the machine.
type ZooKeeperServer struct {
	database

	opts  ZooKeeperOptions
	id    int
	seen  string // by the others, as a line of their files
	own   string // by itself
	peers string
}

// StartZooKeeper starts the servers of an ensemble, and waits until they serve.
func StartZooKeeper(t Owner, opts *ZooKeeperOptions) []*ZooKeeperServer {
	t.Helper()
	filled := ZooKeeperOptions{Servers: 1, MaxSession: 3 * time.Hour, ContainerCheck: 2 * time.Second}
	if opts != nil {
		filled = opts.overDefaults(filled)
	}
	java, jar := program{names: []string{"java"}, install: zookeeperInstall}.find(t), zookeeperJar(t)
	servers := make([]*ZooKeeperServer, filled.Servers)
	for i := range servers {
		s := &ZooKeeperServer{opts: filled, id: i + 1}
		s.database = database{t: t, kind: "zookeeper", ready: s.serves, quit: terminateSignal()}
		s.command = func() *exec.Cmd { return s.server(java, jar) }
		s.open()
		servers[i] = s
		s.own = fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", s.id, s.Port+busOffset, electionPort(t))
		if s.seen = s.own; filled.Line != nil {
			addr := fmt.Sprintf("127.0.0.1:%d", s.Port+busOffset)
			s.seen = strings.Replace(s.own, addr, filled.Line(addr), 1)
		}
	}
	for _, s := range servers {
		if len(servers) > 1 {
			s.meet(servers)
		}
		s.configure()
		if err := s.launch(s.command()); err != nil {
			s.fatal("start", err)
		}
	}
	for _, s := range servers {
		s.awaitServing()
	}
	return servers
}

// meet tells a server of an ensemble where all of them are.
func (s *ZooKeeperServer) meet(all []*ZooKeeperServer) {
	for _, o := range all {
		if o == s {
			s.peers += s.own
		} else {
			s.peers += o.seen
		}
	}
}

// overDefaults puts what was said over the defaults.
func (o *ZooKeeperOptions) overDefaults(defaults ZooKeeperOptions) ZooKeeperOptions {
	if o.Servers > 0 {
		defaults.Servers = o.Servers
	}
	if o.MaxSession > 0 {
		defaults.MaxSession = o.MaxSession
	}
	if o.ContainerCheck > 0 {
		defaults.ContainerCheck = o.ContainerCheck
	}
	defaults.Line = o.Line
	return defaults
}

// electionPort reserves the port by which servers of an ensemble elect a leader.
func electionPort(t Owner) int {
	t.Helper()
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	return p.number
}

// zookeeperJar finds the server, which is no program of its own.
func zookeeperJar(t Owner) string {
	t.Helper()
	const jar = "/usr/share/java/zookeeper.jar"
	if _, err := os.Stat(jar); errors.Is(err, os.ErrNotExist) {
		program{names: []string{jar}, install: zookeeperInstall}.missing(t)
	}
	return jar
}

// server is the command that runs the server. It does not wait for the disk, which may be busy for seconds with what
// others do.
func (s *ZooKeeperServer) server(java, jar string) *exec.Cmd {
	cmd := exec.Command(java, "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dzookeeper.extendedTypesEnabled=true", "-Dzookeeper.forceSync=no",
		fmt.Sprintf("-Dznode.container.checkIntervalMs=%d", s.opts.ContainerCheck.Milliseconds()),
		"-cp", jar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(s.Dir, "zoo.cfg"))
	cmd.Dir, cmd.SysProcAttr = s.Dir, dieWithParent()
	return cmd
}

// configure writes the server's files.
func (s *ZooKeeperServer) configure() {
	s.t.Helper()
	lines := []string{
		fmt.Sprintf("tickTime=%d", zookeeperTick.Milliseconds()),
		"initLimit=20", "syncLimit=10",
		"dataDir=" + s.data(),
		fmt.Sprintf("clientPort=%d", s.Port),
		"clientPortAddress=127.0.0.1",
		"admin.enableServer=false",
		"4lw.commands.whitelist=*",
		fmt.Sprintf("minSessionTimeout=%d", (2 * zookeeperTick).Milliseconds()),
		fmt.Sprintf("maxSessionTimeout=%d", s.opts.MaxSession.Milliseconds()),
		"maxClientCnxns=0",
	}
	s.write("zoo.cfg", strings.Join(lines, "\n")+"\n"+s.peers)
	s.makeData()
}

// makeData makes an empty data folder.
func (s *ZooKeeperServer) makeData() {
	s.t.Helper()
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		s.t.Fatalf("zookeeper: make data folder: %v", err)
	}
	s.write(filepath.Join("data", "myid"), fmt.Sprint(s.id))
}

func (s *ZooKeeperServer) write(file, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, file), []byte(text), 0o600); err != nil {
		s.t.Fatalf("zookeeper: write %s: %v", file, err)
	}
}

func (s *ZooKeeperServer) data() string { return filepath.Join(s.Dir, "data") }

// serves reports whether the server serves clients, which in an ensemble takes a leader.
func (s *ZooKeeperServer) serves() bool {
	return strings.Contains(s.Ask("srvr"), "Mode: ")
}

// IsLeader reports whether the server leads its ensemble.
func (s *ZooKeeperServer) IsLeader() bool {
	return strings.Contains(s.Ask("srvr"), "Mode: leader")
}

// answerTime is how long an answer is waited for. A server that has just begun to listen may lose a question.
const answerTime = 500 * time.Millisecond

// Ask sends one of the commands of four letters, and returns the answer, nothing if there is none.
func (s *ZooKeeperServer) Ask(command string) string {
	conn, err := net.DialTimeout("tcp", s.Addr(), answerTime)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(answerTime))
	if _, err := conn.Write([]byte(command)); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(conn) // what is cut off does not say what is looked for
	return string(answer)
}

// Freeze suspends the server, and waits until each of its threads has come to a halt: on a busy machine that takes a
// while, in which some would go on to answer.
func (s *ZooKeeperServer) Freeze() {
	s.t.Helper()
	s.database.Freeze()
	ctx, cancel := context.WithTimeout(context.Background(), databaseTimeout)
	defer cancel()
	err := poll(ctx, time.Millisecond, func() bool { return s.proc.isGone() || isSuspended(s.proc.cmd.Process.Pid) })
	if err != nil {
		s.fatal("pause", err)
	}
}

// Wipe kills the server and starts it again without its data.
func (s *ZooKeeperServer) Wipe() {
	s.t.Helper()
	s.Kill()
	if err := os.RemoveAll(s.data()); err != nil {
		s.t.Fatalf("zookeeper: remove data: %v", err)
	}
	s.makeData()
	s.start()
}
