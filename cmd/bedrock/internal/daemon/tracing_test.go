package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/txn/saga"
)

const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
	traceparent = "00-" + callerTrace + "-" + callerSpan + "-01"
)

// collector is what spans are sent to.
type collector struct {
	*httptest.Server

	mu       sync.Mutex
	headers  http.Header
	resource map[string]string
	spans    []*tracev1.Span
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP implements [http.Handler].
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch collectorv1.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &batch) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = r.Header
	for _, of := range batch.GetResourceSpans() {
		c.resource = attributes(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

func attributes(list []*commonv1.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		m[kv.GetKey()] = kv.GetValue().GetStringValue()
	}
	return m
}

// tree draws the spans of the caller's trace as "parent > name".
func (c *collector) tree() []string {
	names := map[string]string{callerSpan: "caller"}
	for _, s := range c.spans {
		names[fmt.Sprintf("%x", s.GetSpanId())] = s.GetName()
	}
	var lines []string
	for _, s := range c.spans {
		line := names[fmt.Sprintf("%x", s.GetParentSpanId())] + " > " + s.GetName()
		if trace := fmt.Sprintf("%x", s.GetTraceId()); trace != callerTrace {
			line += " in trace " + trace
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// sendTo is the configuration of a server that sends its spans somewhere.
func sendTo(address string) func(*daemon.Config) {
	return func(c *daemon.Config) { c.Collector = address + "/v1/traces" }
}

// shop takes part in orders: /pay refuses. It knows who called it.
type shop struct {
	*httptest.Server

	mu      sync.Mutex
	parents []string // trace and span of each call
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parents = append(s.parents, r.Header.Get("Traceparent"))
		if r.URL.Path == "/pay" {
			w.WriteHeader(http.StatusConflict)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// order is a saga that is rolled back, as JSON.
func (s *shop) order() string {
	return fmt.Sprintf(`{"definition": {"id": "order-1", "mode": "saga", "name": "order", "steps": [
		{"id": "stock", "action": "%[1]s/deduct", "compensate": "%[1]s/restore"},
		{"id": "pay", "after": ["stock"], "action": "%[1]s/pay", "compensate": "%[1]s/refund"}]}, "wait": true}`, s.URL)
}

// protocols submit an order on behalf of the caller's span.
func protocols() map[string]func(*testing.T, string, *shop) {
	return map[string]func(*testing.T, string, *shop){"JSON": overJSON, "gRPC": overGRPC}
}

func overJSON(t *testing.T, address string, s *shop) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		address+"/bedrock.v1.TransactionService/Submit", strings.NewReader(s.order()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", traceparent)
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || !bytes.Contains(text, []byte("rolled-back")) {
		t.Errorf("%s, %v", text, err)
	}
}

func overGRPC(t *testing.T, address string, s *shop) {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	api := bedrockv1connect.NewTransactionServiceClient(&http.Client{Transport: transport}, address, connect.WithGRPC())
	ctx, call := connect.NewClientContext(t.Context())
	call.RequestHeader().Set("Traceparent", traceparent)
	res, err := api.Submit(ctx, &bedrockv1.SubmitRequest{Wait: true, Definition: &bedrockv1.Definition{
		Id: "order-1", Mode: "saga", Name: "order", Steps: []*bedrockv1.Step{
			{Id: "stock", Action: s.URL + "/deduct", Compensate: s.URL + "/restore"},
			{Id: "pay", Action: s.URL + "/pay", Compensate: s.URL + "/refund"},
		},
	}})
	if err != nil || res.GetResult().GetOutcome() != "rolled-back" {
		t.Errorf("%v, %v", res, err)
	}
}

func TestSpansContinueTheTraceOfTheRequest(t *testing.T) {
	for name, submit := range protocols() {
		t.Run(name, func(t *testing.T) {
			c, s := newCollector(t), newShop(t)
			address, stop := start(t, sendTo(c.URL))
			submit(t, address, s)
			stop()
			want := []string{
				"caller > saga order",
				"saga order > saga action",
				"saga order > saga action",
				"saga order > saga compensate",
			}
			if diff := cmp.Diff(want, c.tree()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.calls(), s.parents); diff != "" {
				t.Error("what the participants got is not what was sent to the collector:", diff)
			}
			if c.resource["service.name"] != "bedrock" || c.resource["service.instance.id"] != "test" {
				t.Error(c.resource)
			}
		})
	}
}

// calls are the trace contexts of the spans of calls, in the order of their beginning.
func (c *collector) calls() []string {
	calls := slices.DeleteFunc(slices.Clone(c.spans),
		func(s *tracev1.Span) bool { return s.GetKind() != tracev1.Span_SPAN_KIND_CLIENT })
	slices.SortFunc(calls, func(a, b *tracev1.Span) int {
		return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano())
	})
	var contexts []string
	for _, s := range calls {
		contexts = append(contexts, fmt.Sprintf("00-%x-%x-01", s.GetTraceId(), s.GetSpanId()))
	}
	return contexts
}

func TestTheEnvironmentSaysHowSpansAreSent(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "orders")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=seven,team=pay")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1") // what Config says wins
	c, s := newCollector(t), newShop(t)
	address, stop := start(t, sendTo(c.URL))
	overJSON(t, address, s)
	stop()
	if c.resource["service.name"] != "orders" || c.resource["service.instance.id"] != "seven" ||
		c.resource["team"] != "pay" {
		t.Error(c.resource)
	}
	if c.headers.Get("X-Key") != "secret" {
		t.Error(c.headers)
	}
}

func TestTheEnvironmentSaysWhichSpansAreSent(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	c, s := newCollector(t), newShop(t)
	address, stop := start(t, sendTo(c.URL))
	overJSON(t, address, s)
	stop()
	if len(c.spans) != 0 {
		t.Error(c.tree())
	}
}

// TestWithoutACollectorTracesPassThrough, and that costs nothing.
func TestWithoutACollectorTracesPassThrough(t *testing.T) {
	s := newShop(t)
	address, stop := start(t, nil)
	overJSON(t, address, s)
	awaitSenders(t, false)
	stop()
	for _, parent := range s.parents {
		if parent != traceparent {
			t.Error(parent)
		}
	}
	_, stop = start(t, sendTo("http://127.0.0.1:1"))
	defer stop()
	awaitSenders(t, true) // or else the above would prove nothing
}

// senders reports whether a goroutine of OpenTelemetry runs.
func senders() bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("go.opentelemetry.io/otel/sdk"))
}

// awaitSenders waits until such goroutines run, or none: they need a moment to begin
// and to end.
func awaitSenders(t *testing.T, want bool) {
	t.Helper()
	tick, end := time.NewTicker(10*time.Millisecond), time.After(4*time.Second)
	defer tick.Stop()
	for senders() != want {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("something sends spans: %t, want %t", !want, want)
		}
	}
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Collect(strings.Lines(j.text.String()))
}

// startLogged is start with a collector and a log.
func startLogged(t *testing.T, collector string) (address string, stop func(), log *journal) {
	t.Helper()
	log = &journal{}
	address, stop = start(t, func(c *daemon.Config) {
		sendTo(collector)(c)
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	return address, stop, log
}

// TestACollectorThatHangsIsNotWaitedFor: more spans than fit into the queue.
func TestACollectorThatHangsIsNotWaitedFor(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
	asked, release := make(chan struct{}, 1000), make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer c.Close()
	defer close(release)
	address, stop, log := startLogged(t, c.URL)
	began := time.Now()
	commit(t, address, 1)
	<-asked
	commit(t, address, 100)
	if took := time.Since(began); took > 5*time.Second { // the exporter would wait for ten
		t.Error("transactions took", took)
	}
	began = time.Now()
	stop()
	if took := time.Since(began); took < 2*time.Second || took > 6*time.Second {
		t.Error("the end took", took)
	}
	awaitSenders(t, false)
	if lines := log.lines(); len(lines) == 0 || len(lines) > 2 || !strings.Contains(lines[0], "undelivered=202") {
		t.Error(lines)
	}
}

// TestACollectorThatIsTooSlowIsTold apart from one that takes everything.
func TestACollectorThatIsTooSlowIsTold(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
	for _, slow := range []bool{true, false} {
		ready := make(chan struct{})
		c := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ready }))
		address, stop, log := startLogged(t, c.URL)
		if slow {
			commit(t, address, 20)
		}
		close(ready)
		commit(t, address, 1)
		stop()
		c.Close()
		if lines := log.lines(); slow && (len(lines) != 2 || !strings.Contains(lines[0], "too slow")) ||
			!slow && len(lines) != 0 {
			t.Errorf("slow %t: %q", slow, lines)
		}
	}
}

// commit runs transactions one after the other.
func commit(t *testing.T, address string, n int) {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	for range n {
		if _, err := saga.New("x").Step("one", "demo.echo", "").Run(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheLogIsNotFloodedByACollectorThatFails with long speeches, batch after batch:
// neither ours nor the one OpenTelemetry would write.
func TestTheLogIsNotFloodedByACollectorThatFails(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	var told atomic.Int32
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { told.Add(1) }))
	asked := make(chan struct{}, 1000)
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, strings.Repeat("no ", 100_000))
		asked <- struct{}{}
	}))
	defer c.Close()
	address, stop, log := startLogged(t, c.URL)
	for len(asked) < 5 {
		commit(t, address, 5)
	}
	stop()
	lines := log.lines()
	if len(lines) != 2 || len(lines[0]) > 1000 || !strings.Contains(lines[0], "418 I'm a teapot") ||
		!strings.Contains(lines[1], "spans have not reached the collector") {
		t.Errorf("%.2000q", lines)
	}
	if n := told.Load(); n != 0 {
		t.Errorf("the whole process was told %d times", n)
	}
}

// TestACollectorThatIsNotThereHoldsUpNothing, not even the end.
func TestACollectorThatIsNotThereHoldsUpNothing(t *testing.T) {
	address, stop, log := startLogged(t, "http://127.0.0.1:1")
	commit(t, address, 3)
	began := time.Now()
	stop()
	if took := time.Since(began); took > 3*time.Second {
		t.Error("the end took", took)
	}
	if lines := log.lines(); len(lines) != 2 || !strings.Contains(lines[0], "connection refused") ||
		!strings.Contains(lines[1], "undelivered=6") {
		t.Error(lines)
	}
}

func TestAServerThatDoesNotStartSendsNothing(t *testing.T) {
	config := configuration(t)
	config.Collector, config.Lease = "http://127.0.0.1:1", time.Nanosecond
	if _, err := daemon.Start(t.Context(), config); err == nil || !strings.Contains(err.Error(), "lease") {
		t.Error(err)
	}
	awaitSenders(t, false)
}

// TestAStopWithoutTimeLeftSendsTheLastSpans: what an outage has delayed is what
// somebody will want to see.
func TestAStopWithoutTimeLeftSendsTheLastSpans(t *testing.T) {
	c, s := newCollector(t), newShop(t)
	config := configuration(t)
	sendTo(c.URL)(&config)
	d, err := daemon.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, l) }()
	overJSON(t, "http://"+l.Addr().String(), s)
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = d.Stop(ctx) // may say that it had no time
	awaitSenders(t, false)
	if len(c.spans) != 4 {
		t.Error(c.tree())
	}
}
