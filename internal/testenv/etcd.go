package testenv

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func etcdServer() program {
	return program{names: []string{"etcd"}, install: "run: make servers"}
}

// EtcdOptions says how a cluster of etcd is set up. The zero value is one member.
type EtcdOptions struct {
	// Members is how many there are; defaults to 1.
	Members int
	// Args are appended to every member's command line, such as "--quota-backend-bytes=1000000".
	Args []string
}

// EtcdCluster is a real cluster of etcd owned by one test. Elections take half the time that they usually take. What
// is written is not waited for on the disk: it outlives the process, not the machine.
type EtcdCluster struct {
	Members []*EtcdMember
}

// EtcdMember is one of the servers of a cluster. Its methods end the test when they fail and are called from the test's
// own goroutine, except for Kill, Freeze and Thaw.
type EtcdMember struct {
	// Port is the member's port for clients on 127.0.0.1; it stays the same over restarts.
	Port int
	// Dir holds data and log.
	Dir string

	t    Owner
	bin  string
	name string
	args []string
	proc *process
}

// etcdTimeout bounds the wait for a member; on an idle machine it takes half a second.
const etcdTimeout = 30 * time.Second

// StartEtcd starts a cluster and waits until every member answers.
func StartEtcd(t Owner, opts *EtcdOptions) *EtcdCluster {
	t.Helper()
	o := EtcdOptions{Members: 1}
	if opts != nil {
		o.Args, o.Members = opts.Args, max(opts.Members, 1)
	}
	c, bin := &EtcdCluster{}, etcdServer().find(t)
	var peers []string
	for i := range o.Members {
		m := newEtcdMember(t, bin, fmt.Sprintf("m%d", i))
		c.Members = append(c.Members, m)
		peers = append(peers, m.name+"="+m.peerURL())
	}
	for _, m := range c.Members {
		m.args = append(m.args, "--initial-cluster="+strings.Join(peers, ","),
			fmt.Sprintf("--initial-cluster-token=%s-%d", t.Name(), c.Members[0].Port))
		m.args = append(m.args, o.Args...)
		m.launch()
	}
	c.AwaitReady()
	return c
}

// AwaitReady waits until every member answers with the consent of the cluster: after an election, too.
func (c *EtcdCluster) AwaitReady() {
	for _, m := range c.Members {
		m.awaitReady()
	}
}

// newEtcdMember prepares a member without starting it.
func newEtcdMember(t Owner, bin, name string) *EtcdMember {
	t.Helper()
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	m := &EtcdMember{t: t, bin: bin, name: name, Port: p.number, Dir: t.TempDir()}
	t.Cleanup(func() {
		m.Kill()
		p.release()
	})
	m.args = []string{
		"--name=" + name, "--data-dir=" + m.data(),
		"--listen-client-urls=" + m.URL(), "--advertise-client-urls=" + m.URL(),
		"--listen-peer-urls=" + m.peerURL(), "--initial-advertise-peer-urls=" + m.peerURL(),
		"--heartbeat-interval=50", "--election-timeout=500", "--unsafe-no-fsync", "--log-level=warn",
	}
	return m
}

// peerURL is on the port that is reserved beside the member's own.
func (m *EtcdMember) peerURL() string { return "http://" + loopback(m.Port+busOffset) }

// URL is where clients find the member.
func (m *EtcdMember) URL() string { return "http://" + m.Addr() }

// Addr is the member's address for clients.
func (m *EtcdMember) Addr() string { return loopback(m.Port) }

func (m *EtcdMember) data() string { return filepath.Join(m.Dir, "data") }

func (m *EtcdMember) logFile() string { return filepath.Join(m.Dir, "server.log") }

// Endpoints are the addresses of all members.
func (c *EtcdCluster) Endpoints() (all []string) {
	for _, m := range c.Members {
		all = append(all, m.Addr())
	}
	return all
}

// launch starts the process.
func (m *EtcdMember) launch() {
	m.t.Helper()
	proc, err := startProcess(m.bin, m.args, m.Dir, m.logFile())
	if err != nil {
		m.t.Fatalf("etcd %s: %v", m.Addr(), err)
	}
	m.proc = proc
}

// awaitReady waits until the member answers with the consent of the cluster.
func (m *EtcdMember) awaitReady() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), etcdTimeout)
	defer cancel()
	err := poll(ctx, 5*time.Millisecond, func() bool { return m.proc.isGone() || m.isHealthy(ctx) })
	if err != nil || m.proc.isGone() {
		log, _ := os.ReadFile(m.logFile())
		m.t.Fatalf("etcd %s: wait for readiness: %v\n%s", m.Addr(), err, log[max(0, len(log)-logTailBytes):])
	}
}

// isHealthy asks the member for its health, which it finds out by a read that goes through the leader.
func (m *EtcdMember) isHealthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL()+"/health", nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK && strings.Contains(string(body), "true")
}

// Freeze suspends the member: connections stay open, nothing is answered.
func (m *EtcdMember) Freeze() {
	m.proc.sendSignal(freezeSignal())
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	_ = poll(ctx, time.Millisecond, func() bool { return isStopped(m.proc.cmd.Process.Pid) }) // else it is late
}

// Thaw lets a paused member go on.
func (m *EtcdMember) Thaw() { m.proc.sendSignal(thawSignal()) }

// Kill ends the member at once, as a crash would.
func (m *EtcdMember) Kill() {
	if m.proc != nil {
		m.proc.kill()
	}
}

// Restart ends the member if it still runs and starts it again, on the same port; without keepData it comes back empty,
// which only a cluster of one member survives.
func (m *EtcdMember) Restart(keepData bool) {
	m.t.Helper()
	m.Kill()
	if !keepData {
		if err := os.RemoveAll(m.data()); err != nil {
			m.t.Fatalf("etcd %s: remove data: %v", m.Addr(), err)
		}
	}
	m.launch()
	m.awaitReady()
}
