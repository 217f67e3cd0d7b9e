package coordotel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordotel"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// recorded returns a provider and what its spans went to.
func recorded() (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)), recorder
}

// tree draws spans as lines of "parent > name {answer}", in the order they ended.
func tree(spans []sdktrace.ReadOnlySpan) []string {
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	var lines []string
	for _, s := range spans {
		line := names[s.Parent().SpanID()] + " > " + s.Name()
		if a := attribute(s, "bedrock.txn.answer"); a != "" {
			line += fmt.Sprintf(" %s of %s, attempt %s: %s",
				attribute(s, "bedrock.txn.branch"), attribute(s, "bedrock.txn.target"),
				attribute(s, "bedrock.txn.attempt"), a)
		}
		lines = append(lines, line)
	}
	return lines
}

func attribute(s sdktrace.ReadOnlySpan, key string) string {
	for _, kv := range s.Attributes() {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

// A saga whose second step fails once and is then refused, on two coordinators one
// after the other: every span belongs to the trace of the submission.
func TestOneTraceFromSubmissionToTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, recorder := recorded()
		store := memstore.New(nil)
		first := coordinator(t, store, provider, nil)
		ctx, root := provider.Tracer("test").Start(t.Context(), "POST /orders")
		if _, err := first.Submit(ctx, order()); err != nil {
			t.Fatal(err)
		}
		root.End()
		synctest.Wait() // charge has failed once; its second attempt is not due yet
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := coordinator(t, store, provider, errors.New("no money"))
		_, err := second.Wait(t.Context(), "order-1")
		if _, rolledBack := errors.AsType[*txn.RolledBackError](err); !rolledBack {
			t.Error(err)
		}
		if err := second.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		want := []string{
			"POST /orders > saga order",
			" > POST /orders",
			"saga order > saga action stock of deduct, attempt 1: done",
			"saga order > saga action pay of charge, attempt 1: failed",
			"saga order > saga action pay of charge, attempt 2: refused",
			"saga order > saga compensate stock of restore, attempt 1: done",
		}
		spans := recorder.Ended()
		got := tree(spans)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, s := range spans {
			if s.SpanContext().TraceID() != root.SpanContext().TraceID() {
				t.Error(s.Name(), "is in another trace")
			}
		}
	})
}

func order() txn.Definition {
	return txn.Definition{
		ID: "order-1", Mode: "saga", Name: "order", Headers: map[string]string{"x-tenant": "acme"},
		Branches: []txn.Branch{
			{ID: "stock", Do: "deduct", Undo: "restore"},
			{
				ID: "pay", Do: "charge", Undo: "refund", After: []string{"stock"},
				Policy: &txn.Policy{Backoff: time.Minute},
			},
		},
	}
}

// coordinator starts one whose charge is refused with an error, or just fails.
func coordinator(t *testing.T, store *memstore.Store, provider trace.TracerProvider, refusal error) *coord.Coordinator {
	t.Helper()
	co, err := coord.New(store, &coord.Options{Tracing: coordotel.New(&coordotel.Options{TracerProvider: provider})})
	if err != nil {
		t.Fatal(err)
	}
	fine := func(_ context.Context, call txn.Call) ([]byte, error) {
		if call.Headers["x-tenant"] != "acme" || !strings.HasPrefix(call.Headers["traceparent"], "00-") {
			t.Error(call.Headers)
		}
		return nil, nil
	}
	charge := func(context.Context, txn.Call) ([]byte, error) {
		if refusal != nil {
			return nil, txn.Abort(refusal)
		}
		return nil, errors.New("busy")
	}
	err = errors.Join(co.Register("deduct", fine), co.Register("restore", fine), co.Register("refund", fine),
		co.Register("charge", charge), co.Start(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return co
}

func TestTheHeadersOfADefinitionAreAParent(t *testing.T) {
	provider, recorder := recorded()
	parent := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	d := order()
	d.Headers = map[string]string{"traceparent": parent}
	coordotel.New(&coordotel.Options{TracerProvider: provider}).Submit(t.Context(), &d)
	s := recorder.Ended()[0]
	if got := s.Parent().SpanID().String(); got != "b7ad6b7169203331" {
		t.Error(got)
	}
	if len(d.Headers) != 1 || d.Headers["traceparent"] != parent {
		t.Error("the definition was changed:", d.Headers)
	}
}

func TestACallSendsItsOwnSpan(t *testing.T) {
	provider, recorder := recorded()
	tracing := coordotel.New(&coordotel.Options{TracerProvider: provider})
	stored := map[string]string{
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x-tenant": "acme",
	}
	kept := maps.Clone(stored)
	call := txn.Call{Transaction: "t", Branch: "b", Op: "try", Mode: "tcc", Attempt: 2, Headers: stored}
	headers, end := tracing.Call(t.Context(), &call, "https://pay/charge?token=secret")
	end(txn.Answer{Kind: txn.AnswerFailed, Note: "500 Internal Server Error"})
	s := recorder.Ended()[0]
	want := fmt.Sprintf("00-0af7651916cd43dd8448eb211c80319c-%s-01", s.SpanContext().SpanID())
	if headers["traceparent"] != want || headers["x-tenant"] != "acme" {
		t.Error(headers)
	}
	if diff := cmp.Diff(kept, stored); diff != "" {
		t.Error("the transaction's headers were changed:", diff)
	}
	if got := attribute(s, "bedrock.txn.target"); got != "https://pay/charge" {
		t.Error(got)
	}
	if s.Status().Code != codes.Error || s.Status().Description != "500 Internal Server Error" ||
		s.SpanKind() != trace.SpanKindClient {
		t.Errorf("%+v %v", s.Status(), s.SpanKind())
	}
}

func TestOnlyFailuresAreErrors(t *testing.T) {
	provider, recorder := recorded()
	tracing := coordotel.New(&coordotel.Options{TracerProvider: provider})
	kinds := []txn.AnswerKind{
		txn.AnswerDone, txn.AnswerRefused, txn.AnswerPending, txn.AnswerFailed, txn.AnswerUnreached,
	}
	for i, kind := range kinds {
		_, end := tracing.Call(t.Context(), &txn.Call{Mode: "saga", Op: "action"}, "f")
		end(txn.Answer{Kind: kind})
		failed := recorder.Ended()[i].Status().Code == codes.Error
		if failed != (kind == txn.AnswerFailed || kind == txn.AnswerUnreached) {
			t.Error(kind, failed)
		}
	}
}

func TestWithoutTracesNothingIsStored(t *testing.T) {
	tracing := coordotel.New(&coordotel.Options{TracerProvider: noop.NewTracerProvider()})
	d := order()
	if headers := tracing.Submit(t.Context(), &d); headers != nil {
		t.Error(headers)
	}
	call := txn.Call{Headers: map[string]string{"x-tenant": "acme"}}
	headers, end := tracing.Call(t.Context(), &call, "f")
	end(txn.Answer{Kind: txn.AnswerDone})
	if diff := cmp.Diff(call.Headers, headers); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherPropagator(t *testing.T) {
	provider, _ := recorded()
	both := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	tracing := coordotel.New(&coordotel.Options{TracerProvider: provider, Propagator: both})
	call := txn.Call{Headers: map[string]string{"baggage": "tenant=acme"}}
	headers, end := tracing.Call(t.Context(), &call, "f")
	end(txn.Answer{Kind: txn.AnswerDone})
	if headers["baggage"] != "tenant=acme" || headers["traceparent"] == "" {
		t.Error(headers)
	}
}
