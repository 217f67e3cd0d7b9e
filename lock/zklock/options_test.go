package zklock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

func TestWrongOptionsAreTaken(t *testing.T) {
	t.Parallel()
	server := []string{"127.0.0.1:1"}
	for field, wrong := range map[string]struct {
		servers []string
		opts    zklock.Options
	}{
		"session":       {server, zklock.Options{Session: 30}},
		"session long":  {server, zklock.Options{Session: 1000 * time.Hour}},
		"root":          {server, zklock.Options{Root: "app"}},
		"root /":        {server, zklock.Options{Root: "/"}},
		"root dots":     {server, zklock.Options{Root: "/app/../x"}},
		"root own":      {server, zklock.Options{Root: "/zookeeper/x"}},
		"profile":       {server, zklock.Options{Profile: 9}},
		"username":      {server, zklock.Options{Password: "x"}},
		"username a:b":  {server, zklock.Options{Username: "a:b"}},
		"acl":           {server, zklock.Options{ACL: []zklock.ACL{{Scheme: "world", ID: "anyone"}}}},
		"servers":       {nil, zklock.Options{}},
		"servers empty": {[]string{"a:1", ""}, zklock.Options{}},
		"servers path":  {[]string{"a:1/x", "b:1"}, zklock.Options{}},
		"servers dots":  {[]string{"a:1/.."}, zklock.Options{}},
		"servers port":  {[]string{":1"}, zklock.Options{}},
	} {
		_, err := zklock.Connect(ctxFor(t), wrong.servers, &wrong.opts)
		bad, ok := errors.AsType[*input.Error](err)
		if want, _, _ := strings.Cut(field, " "); !ok || bad.Field != want {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestNobodyAnswersInTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := zklock.Connect(ctx, []string{testenv.SaysNothing(t)}, nil)
	if !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestLeaseOutlivesItsSession asks for more than the servers vouch for.
func TestLeaseOutlivesItsSession(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{MaxSession: 4 * time.Second})[0]
	_, err := zklock.Connect(ctxFor(t), []string{server.Addr()}, nil)
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "lease of 30s in a session of 4s") {
		t.Errorf("a lease of 30 s: %v", err)
	}
	a := connect(t, &zklock.Options{Lock: lock.Options{TTL: 3 * time.Second}}, server.Addr())
	takeAndRelease(t, a, "a")
	_, err = a.Mutex("a", &lock.MutexOptions{TTL: 5 * time.Second}).TryLock(ctxFor(t))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "lease of 5s in a session of 4s") {
		t.Errorf("a lease of 5 s: %v", err)
	}
	findings, err := a.Check(ctxFor(t))
	if err != nil || len(findings) != 2 {
		t.Error(findings, err)
	}
}

// TestShortSessionsStopWhoTakesNoLease: who looks on has whatever session there is, and a check tells what it means.
func TestShortSessionsStopWhoTakesNoLease(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{MaxSession: 4 * time.Second})[0]
	for want, opts := range map[string]*zklock.Options{
		"maxSessionTimeout of the servers to 40000": nil,
		"ask for a session of 40s":                  {Session: 4 * time.Second},
	} {
		b := openAtOnce(t, opts, server.Addr())
		if _, err := b.(driver.Inspector).List(ctxFor(t), "", 10); err != nil {
			t.Error(err)
		}
		findings, err := b.(driver.Checker).Check(ctxFor(t))
		if err != nil || !slices.ContainsFunc(findings, func(f driver.Finding) bool {
			return f.Level == driver.Danger && strings.Contains(f.Means, "ask for 3s (ttl)") &&
				strings.Contains(f.Means, want)
		}) {
			t.Errorf("want %q, got %v, %v", want, findings, err)
		}
		if _, err := b.Acquire(ctxFor(t), request("a", "me:1")); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("a lease of 10 s: %v", err)
		}
	}
}

// TestThirdOfAMillisecondRefusesALease: servers count sessions in whole milliseconds.
func TestThirdOfAMillisecondRefusesALease(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	for _, ttl := range []time.Duration{5 * time.Second, 10*time.Second + time.Microsecond, 20 * time.Second} {
		for _, session := range []time.Duration{0, (ttl + 2) / 3 * 4} {
			opts := &zklock.Options{Session: session, Lock: lock.Options{TTL: ttl}}
			takeAndRelease(t, connect(t, opts, server.Addr()), "a")
		}
	}
}

func TestFoldersMeet(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	clients := []*lock.Client{
		connect(t, nil, server.Addr()), connect(t, nil, server.Addr()+"/app"),
		connect(t, &zklock.Options{Root: "/other"}, server.Addr()),
	}
	for _, c := range clients {
		lease, err := c.Mutex("a", nil).TryLock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = lease.Unlock(ctxFor(t)) }()
		infos, err := c.List(ctxFor(t), "", 10)
		if err != nil || len(infos) != 1 {
			t.Errorf("%+v, %v", infos, err)
		}
	}
	same := connect(t, &zklock.Options{Root: "/app/bedrock/lock"}, server.Addr())
	if _, err := same.Mutex("a", nil).TryLock(ctxFor(t)); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("the same folder by another way: %v", err)
	}
}

// TestPathsOfCuratorMeet has names that are paths.
func TestPathsOfCuratorMeet(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a := connect(t, &zklock.Options{Profile: zklock.Curator, Root: "/locks"}, server.Addr())
	names := []string{"a%2Fb", "orders/42", "orders/43", "x y", "ünï"}
	for _, name := range names {
		lease, err := a.Mutex(name, nil).TryLock(ctxFor(t))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		defer func() { _ = lease.Unlock(ctxFor(t)) }()
	}
	infos, err := a.List(ctxFor(t), "", 10)
	if err != nil || len(infos) != len(names) {
		t.Errorf("%d locks are listed: %+v, %v", len(infos), infos, err)
	}
	if infos, err = a.List(ctxFor(t), "orders/", 10); err != nil || len(infos) != 2 {
		t.Errorf("%d locks are listed: %+v, %v", len(infos), infos, err)
	}
	for _, name := range []string{".", "..", "a/../b", "/a", "a/", "a//b", "\ufff0", "\ue000", "🔒"} {
		if _, err := a.Mutex(name, nil).TryLock(ctxFor(t)); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%q: want ErrRefused, got %v", name, err)
		}
	}
	onlyNode(t, raw(t, server), "/locks/orders/42")
}

// TestFolderHidesItsLocks: names may have the words by which semaphores keep what is theirs.
func TestFolderHidesItsLocks(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	b := open(t, &zklock.Options{Profile: zklock.Curator, Root: "/app"}, server.Addr())
	names := []string{"jobs/locks", "leases/car-7", "locks/orders", "shop/leases/1/locks", "x/y"}
	for _, name := range names {
		mustAcquire(t, b, request(name, "me:1"))
	}
	permit := requestIn(driver.Permit, "pool", "me:1")
	permit.Permits, permit.Limit = 1, 2
	mustAcquire(t, b, permit)
	for _, path := range []string{"/app/pool/locks", "/app/pool/locks/" + zklock.PrefixOf("x") + "lock-0000000000"} {
		if _, err := raw(t, server).Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil { // as Curator has it
			t.Fatal(err)
		}
	}
	infos, err := b.(driver.Inspector).List(ctxFor(t), "", 10)
	var listed []string
	for _, info := range infos {
		listed = append(listed, info.Name)
	}
	slices.Sort(listed)
	if want := slices.Insert(slices.Clone(names), 3, "pool"); err != nil || !slices.Equal(listed, want) {
		t.Errorf("listed are %q, %v; want %q", listed, err, want)
	}
}

// TestStrangersReadTheLocks keeps who does not know the password out.
func TestStrangersReadTheLocks(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	proxy := proxyTo(t, server.Addr())
	acl := []zklock.ACL{{Perms: zklock.All, Scheme: "auth"}}
	opts := &zklock.Options{Username: "shop", Password: "open-sesame", ACL: acl}
	a, same := connect(t, opts, proxy.Addr()), connect(t, opts, server.Addr())
	takeAndRelease(t, a, "a")
	proxy.Cut()
	proxy.Heal()
	takeAndRelease(t, a, "a")
	takeAndRelease(t, same, "a")
	for _, other := range []*zklock.Options{nil, {Username: "shop", Password: "guess"}} {
		_, err := connect(t, other, server.Addr()).Mutex("a", nil).TryLock(ctxFor(t))
		if !errors.Is(err, driver.ErrRefused) || strings.Contains(err.Error(), "guess") {
			t.Errorf("want ErrRefused, got %v", err)
		}
	}
}

// TestOutageMakesAStranger: the servers are away for longer than a session, and know whoever is back.
func TestOutageMakesAStranger(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	opts := &zklock.Options{
		Username: "shop", Password: "open-sesame", ACL: []zklock.ACL{{Perms: zklock.All, Scheme: "auth"}},
		Session: 2 * time.Second, Lock: lock.Options{TTL: time.Second},
	}
	b := open(t, opts, server.Addr())
	req := request("a", "me:1")
	req.TTL = time.Second
	mustRelease(t, b, mustAcquire(t, b, req))
	server.Kill()
	<-time.After(3 * opts.Session) // by now it asks for another session, and has been in vain
	server.Restart()
	eventually(t, "it is granted", func() bool {
		_, err := b.Acquire(ctxFor(t), req)
		if errors.Is(err, driver.ErrRefused) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// TestConnectionIsInTheClear puts something that speaks TLS before a server.
func TestConnectionIsInTheClear(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	addr, roots := encryptedLine(t, server.Addr())
	takeAndRelease(t, connect(t, &zklock.Options{TLS: &tls.Config{RootCAs: roots}}, addr), "a")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := zklock.Connect(ctx, []string{addr}, &zklock.Options{TLS: &tls.Config{}}); err == nil {
		t.Error("a server that nobody vouches for is believed")
	}
}

// encryptedLine forwards what comes over TLS, and returns who vouches for it.
func encryptedLine(t testing.TB, to string) (addr string, roots *x509.CertPool) {
	t.Helper()
	keys := httptest.NewTLSServer(nil)
	defer keys.Close()
	roots = x509.NewCertPool()
	roots.AddCert(keys.Certificate())
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: keys.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	var lines sync.WaitGroup
	lines.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			lines.Go(func() { forward(conn, to) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		lines.Wait()
	})
	return l.Addr().String(), roots
}

// forward copies both directions until one ends.
func forward(conn net.Conn, to string) {
	defer conn.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(server, conn); ended <- struct{}{} }()
	go func() { _, _ = io.Copy(conn, server); ended <- struct{}{} }()
	<-ended
}
