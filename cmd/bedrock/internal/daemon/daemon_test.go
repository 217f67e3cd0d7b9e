package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run serves until the test ends, and returns where.
func run(t *testing.T, adjust func(*daemon.Config)) string {
	t.Helper()
	address, stop := start(t, adjust)
	t.Cleanup(stop)
	return address
}

// start serves until it is told to stop, which must succeed.
func start(t *testing.T, adjust func(*daemon.Config)) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + l.Addr().String(), serve(t, l, adjust)
}

// serve is start on a given listener.
func serve(t *testing.T, l net.Listener, adjust func(*daemon.Config)) (stop func()) {
	t.Helper()
	config := configuration(t)
	if adjust != nil {
		adjust(&config)
	}
	d, err := daemon.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, l) }()
	return func() {
		cancel()
		if err := <-served; err != nil {
			t.Error("serve:", err)
		}
		stopping, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		if err := d.Stop(stopping); err != nil {
			t.Error("stop:", err)
		}
	}
}

// configuration is that of a server without anything special.
func configuration(t *testing.T) daemon.Config {
	t.Helper()
	locks, err := lockurl.New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	return daemon.Config{
		Store: memstore.New(nil), Locks: locks, Allow: allow.Loopback(), Replica: "test",
		Logger: slog.New(slog.DiscardHandler),
	}
}

func dial(t *testing.T, address string) *client.Client {
	t.Helper()
	c, err := client.Dial(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestSamplesDoWhatTheySay(t *testing.T) {
	c := dial(t, run(t, nil))
	result, err := saga.New("x").Step("one", "demo.echo", "").Step("two", "demo.slow", "").Run(t.Context(), c,
		map[string]int{"order": 42})
	if err != nil || string(result.Returned["two"]) != `{"order":42}` {
		t.Errorf("echo: %+v, %v", result, err)
	}
	result, _ = saga.New("x").Step("one", "demo.echo", "demo.echo").Step("two", "demo.refuse", "").Run(t.Context(), c,
		nil)
	if result.Outcome != txn.RolledBack {
		t.Errorf("refuse: %+v", result)
	}
	_, err = saga.New("x").Step("one", "demo.fail", "").Policy(txn.Policy{Attempts: 1}).Run(t.Context(), c, nil)
	if err == nil || !strings.Contains(err.Error(), "demo.fail always fails; this was call 1") {
		t.Errorf("fail: %v", err)
	}
}

func TestAnOpenConsoleDoesNotHoldUpTheEnd(t *testing.T) {
	address, stop := start(t, nil)
	c := dial(t, address)
	id, err := saga.New("x").Step("one", "demo.fail", "").ID("stuck").Submit(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address+"/transactions/"+id+"/events",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "id: ") {
		t.Errorf("first event: %q, %v", line, err)
	}
	c.Close()
	stop()
}

func TestRemovedTransactionsAreInTheArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	c := dial(t, run(t, func(config *daemon.Config) { config.Keep, config.Archive = coord.MinKeep, dir }))
	if _, err := saga.New("order").Step("one", "demo.echo", "").ID("gone").Run(t.Context(), c,
		map[string]int{"order": 42}); err != nil {
		t.Fatal(err)
	}
	tick, end := time.NewTicker(50*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for {
		files, _ := filepath.Glob(dir + "/transactions-*.jsonl")
		if len(files) == 1 {
			if text, err := os.ReadFile(files[0]); err == nil && strings.HasSuffix(string(text), "\n") {
				checkArchive(t, text)
				return
			}
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("nothing was archived")
		}
	}
}

func checkArchive(t *testing.T, text []byte) {
	t.Helper()
	var found bedrockv1.Transaction
	if err := protojson.Unmarshal(text, &found); err != nil || bytes.Count(text, []byte("\n")) != 1 {
		t.Fatalf("archived %s: %v", text, err)
	}
	payload := found.GetDefinition().GetPayload().GetStructValue().AsMap()
	if found.GetDefinition().GetId() != "gone" || found.GetStatus() != "committed" || payload["order"] != 42.0 {
		t.Errorf("archived %s", text)
	}
}

// TestFunctionsOfProgramsBesideAServer are refused, since a mistyped one would never be
// called, unless somebody says that there are such programs.
func TestFunctionsOfProgramsBesideAServer(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		c := dial(t, run(t, func(config *daemon.Config) { config.Elsewhere = elsewhere }))
		_, err := saga.New("x").Step("one", "orders.pack", "").Submit(t.Context(), c, nil)
		if accepted := err == nil; accepted != elsewhere {
			t.Errorf("elsewhere %v: %v", elsewhere, err)
		}
	}
}

// TestLimitsOfAServerAreHeeded has one place for streams.
func TestLimitsOfAServerAreHeeded(t *testing.T) {
	address := run(t, func(config *daemon.Config) { config.Limits = &server.Limits{Streams: 1, StreamsEach: 2} })
	c, err := client.Dial(address, &client.Options{Patience: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id, err := saga.New("x").Step("one", "demo.fail", "").Submit(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range c.Watch(t.Context(), id) {
		for _, err := range c.Watch(t.Context(), id) {
			if err == nil || !strings.Contains(err.Error(), "which is all this server takes") {
				t.Errorf("second stream: %v", err)
			}
			break
		}
		break
	}
}
