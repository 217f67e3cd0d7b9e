package zklock

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestSequenceEndsUnseen has the numbers of nodes come to their end: then all who come have the same.
func TestSequenceEndsUnseen(t *testing.T) {
	var log bytes.Buffer
	b := &backend{opts: Options{Lock: lock.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}}
	for number, want := range map[string]bool{
		"0000000000": true, "2147483646": true, "2147483647": false, "-2147483648": false, "": false, "x": false,
		"99999999999999999999": false,
	} {
		err := b.checkSequence(&place{folder: "/l", node: prefixOf("o") + lockWord + number})
		if want != (err == nil) || err != nil && !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%q: %v", number, err)
		}
	}
	if n := strings.Count(log.String(), "come to an end"); n != 1 {
		t.Errorf("%d warnings in a minute:\n%s", n, log.String())
	}
}

func TestNodesAreInTheWrongOrder(t *testing.T) {
	const a, b = "_c_82bd6e63-2e6c-475c-b517-9f24b94791f4-", "_c_00000000-2e6c-475c-b517-9f24b94791f4-"
	nodes := []string{b + "lock-0000000012", "x", a + "lock-0000000009", "!", b + "lock-lock-0000000010", "lock-"}
	mutexes.sortNodes(nodes)
	want := []string{"lock-", "!", a + "lock-0000000009", b + "lock-lock-0000000010", b + "lock-0000000012", "x"}
	if !slices.Equal(nodes, want) {
		t.Errorf("%q\nwant\n%q", nodes, want)
	}
}

// TestNodeIsNoneOfCurators: its recipes take a UUID of 36 characters out of the names of nodes.
func TestNodeIsNoneOfCurators(t *testing.T) {
	prefix := prefixOf("0b6a3c1e-0000-4000-8000-000000000001:7")
	if len(prefix) != len("_c_")+36+1 || prefix[17] != '4' || prefixOf("other") == prefix {
		t.Errorf("%q", prefix)
	}
}

// TestNeighboursOfTheServersFolderAreRefused: only that folder is the servers' own.
func TestNeighboursOfTheServersFolderAreRefused(t *testing.T) {
	for path, taken := range map[string]bool{
		"/zookeeper-locks/restart/zookeeper": true, "/zookeepers/zookeeper": true, "/app/zookeeper": true,
		"/zookeeper": false, "/zookeeper/config": false,
	} {
		if err := checkPath("root", path); taken != (err == nil) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestTokensMeet(t *testing.T) {
	for _, zxids := range [][2]int64{{1, 2}, {0x1_ffff_ffff, 0x2_0000_0001}, {0x7ffff_0000_0000, 0x7ffff_ffff_ffff}} {
		low, err := tokenOf(zxids[0])
		high, errHigh := tokenOf(zxids[1])
		if err != nil || errHigh != nil || low+maxBlock > high || high > driver.MaxToken ||
			newestToken(zxids[0]) >= high {
			t.Errorf("%x: tokens %x and %x, %v, %v", zxids, low, high, err, errHigh)
		}
	}
	if _, err := tokenOf(0x80000 << 32); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("an epoch too high: %v", err)
	}
}

func TestEscapedNamesMeet(t *testing.T) {
	seen := make(map[string]string)
	for _, name := range []string{
		"a/b", "a%2Fb", "a%2fb", ".", "..", "...", "a.b", "%", "%25", "ü", "u\u0308", "🔒", "\ufff0", " ", "A", "a",
		"zookeeper", strings.Repeat("ü", 256),
	} {
		element := escape(name)
		if other, met := seen[element]; met {
			t.Errorf("%q meets %q", name, other)
		}
		seen[element] = name
		if back, ok := unescape(element); !ok || back != name {
			t.Errorf("%q is %q, and back %q", name, element, back)
		}
		if err := checkPath("name", "/l/"+element); err != nil {
			t.Error(err)
		}
	}
	for _, other := range []string{"%2f", "a b", "%", "%2", "%61", "."} {
		if name, ok := unescape(other); ok {
			t.Errorf("%q is taken for %q", other, name)
		}
	}
}

// TestLeaseFillsItsSession: the rest of a session is what a server may be late with telling that a client lives.
func TestLeaseFillsItsSession(t *testing.T) {
	for _, ttl := range []time.Duration{10 * time.Millisecond, 30 * time.Second, 7*time.Hour + 1} {
		if session := sessionFor(ttl); longestLease(session) < ttl || longestLease(session) > ttl+3 ||
			session-longestLease(session) < ttl/4 {
			t.Errorf("a lease of %s in a session of %s", ttl, session)
		}
	}
}

// TestRepliesOvertakeWatches has a server answer something over a new connection before the library has told it of the
// watches it has.
func TestRepliesOvertakeWatches(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	l := newLink(here, time.Hour, true)
	defer l.Close()
	l.hold = time.Minute
	go func() { _, _ = there.Write(make([]byte, handshake)) }()
	if _, err := io.ReadFull(l, make([]byte, handshake)); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(l, make([]byte, 4))
		read <- err
	}()
	if _, err := there.Write(make([]byte, 4)); err != nil { // it is read when that returns
		t.Fatal(err)
	}
	select {
	case err := <-read:
		t.Fatalf("it is told before: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	go func() { _, _ = io.Copy(io.Discard, there) }()
	if _, err := l.Write([]byte{0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, setWatches}); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
