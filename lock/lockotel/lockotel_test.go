package lockotel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/lockotel"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// watched is a client whose events are reported to an SDK in memory.
type watched struct {
	*lock.Client
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
	tracer trace.Tracer
}

func watch(t *testing.T) watched {
	t.Helper()
	w := watched{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	tracing := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans))
	w.tracer = tracing.Tracer("test")
	observer, err := lockotel.New(&lockotel.Options{
		TracerProvider: tracing,
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.Client, err = memlock.New(nil, &lock.Options{Observer: observer}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(context.Background()) })
	return w
}

// hold takes the lock, keeps it that long, and gives it back.
func hold(ctx context.Context, t *testing.T, m *lock.Mutex, d time.Duration) error {
	t.Helper()
	lease, err := m.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	return lease.Unlock(ctx)
}

// figures returns every counter's sum and every histogram's count, and the sum of
// its seconds, by name and reason.
func (w watched) figures(t *testing.T) map[string]float64 {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := w.reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	figures := make(map[string]float64)
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			addFigures(figures, m)
		}
	}
	return figures
}

func addFigures(figures map[string]float64, m metricdata.Metrics) {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			name := m.Name
			if reason, ok := p.Attributes.Value("bedrock.lock.reason"); ok {
				name += " " + reason.AsString()
			}
			figures[name] += float64(p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			figures[m.Name+" count"] += float64(p.Count)
			figures[m.Name+" "+m.Unit] += p.Sum
		}
	}
}

func TestMetricsCountWaitsLeasesAndLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		ctx := t.Context()
		lease, err := w.Mutex("a", nil).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- hold(ctx, t, w.Mutex("a", nil), 20*time.Second) }() // renewed once
		time.Sleep(2 * time.Second)
		_, _ = w.Mutex("a", nil).TryLock(ctx)
		_ = lease.Unlock(ctx)
		<-done
		_ = hold(ctx, t, w.Mutex("a", &lock.MutexOptions{Fixed: true, TTL: time.Second}), 2*time.Second)

		got := w.figures(t)
		if slack := got["bedrock.lock.renewal.slack s"]; slack < 14 || slack > 17 {
			t.Errorf("slack is %v s", slack)
		}
		delete(got, "bedrock.lock.renewal.slack s")
		want := map[string]float64{
			"bedrock.lock.acquired":            3,
			"bedrock.lock.left unlocked":       2,
			"bedrock.lock.left held":           1,
			"bedrock.lock.left lost":           1,
			"bedrock.lock.lost":                1,
			"bedrock.lock.renewed":             1,
			"bedrock.lock.renewal.slack count": 1,
			"bedrock.lock.wait count":          3,
			"bedrock.lock.wait s":              2,
			"bedrock.lock.hold count":          3,
			"bedrock.lock.hold s":              24,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefusalsAreCounted(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	observer, err := lockotel.New(&lockotel.Options{
		MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := guard.NewMemory(&guard.Options{Observer: observer})
	for _, token := range []uint64{2, 2, 1, 1} {
		_ = m.Announce(t.Context(), guard.Ticket{Name: "a", Token: token})
	}
	if n := (watched{reader: reader}).figures(t)["bedrock.lock.refused"]; n != 2 {
		t.Errorf("%v refusals were counted", n)
	}
}

func TestSpansOfWaitAndHoldFollowEachOtherUnderTheCallersSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		blocker, err := w.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Second, func() { _ = blocker.Unlock(context.Background()) })
		start := time.Now()
		ctx, parent := w.tracer.Start(t.Context(), "request")
		if err := hold(ctx, t, w.Mutex("a", nil), 3*time.Second); err != nil {
			t.Error(err)
		}
		parent.End()

		spans := childrenOf(parent, w.spans.Ended())
		if len(spans) != 2 {
			t.Fatalf("%d spans under the caller's", len(spans))
		}
		wantSpan(t, spans[0], "lock wait", start, 2*time.Second)
		wantSpan(t, spans[1], "lock hold", start.Add(2*time.Second), 3*time.Second)
		for _, span := range spans {
			attrs := attribute.NewSet(span.Attributes()...)
			for key, want := range map[attribute.Key]string{
				"bedrock.lock.name": "a", "bedrock.lock.token": fmt.Sprint(blocker.Token() + 1),
			} {
				if got, _ := attrs.Value(key); got.AsString() != want {
					t.Errorf("%s is %q, want %q", key, got.AsString(), want)
				}
			}
			if !attrs.HasValue("bedrock.lock.owner") {
				t.Error("no owner")
			}
		}
	})
}

func TestAWaitThatFailsIsASpanWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		lease, err := w.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ctx, parent := w.tracer.Start(t.Context(), "request")
		_, err = w.Mutex("a", &lock.MutexOptions{Wait: time.Minute}).Lock(ctx)
		if !errors.Is(err, lock.ErrHeld) {
			t.Error(err)
		}
		parent.End()
		spans := childrenOf(parent, w.spans.Ended())
		if len(spans) != 1 {
			t.Fatalf("%d spans under the caller's", len(spans))
		}
		wantSpan(t, spans[0], "lock wait", start, time.Minute)
		want := `lock "a": held by ` + lease.Owner()
		if status := spans[0].Status(); status.Code != codes.Error || status.Description != want {
			t.Error(status)
		}
	})
}

func TestTheGlobalProvidersAreTheDefault(t *testing.T) {
	observer, err := lockotel.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	observer.Observe(t.Context(), lock.Event{Kind: lock.EventAcquired, Name: "a"})
}

func childrenOf(parent trace.Span, all []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	var children []sdktrace.ReadOnlySpan
	for _, span := range all {
		if span.Parent().SpanID() == parent.SpanContext().SpanID() {
			children = append(children, span)
		}
	}
	return children
}

func wantSpan(t *testing.T, span sdktrace.ReadOnlySpan, name string, start time.Time, d time.Duration) {
	t.Helper()
	if span.Name() != name || !span.StartTime().Equal(start) || span.EndTime().Sub(span.StartTime()) != d {
		t.Errorf("span %q from %s for %s, want %q from %s for %s", span.Name(), span.StartTime(),
			span.EndTime().Sub(span.StartTime()), name, start, d)
	}
}
