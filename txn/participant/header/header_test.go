package header_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

func fullCall() txn.Call {
	return txn.Call{
		Transaction: "order-1", Branch: "pay/card", Op: "compensate", Mode: "saga", Attempt: 3, Epoch: 1 << 60,
		Deadline: time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC), Result: []byte{0, 255, '\n'},
		Headers: map[string]string{"traceparent": "00-a-b-01", "x-tenant": "ä"},
	}
}

func TestACallSurvivesItsHeaders(t *testing.T) {
	for name, call := range map[string]txn.Call{
		"full":  fullCall(),
		"small": {Transaction: "t", Op: "check"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := header.Parse(header.Of(&call))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(call, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHeadersAreThoseOfTheContract(t *testing.T) {
	call := fullCall()
	want := http.Header{
		"Bedrock-Transaction": {"order-1"}, "Bedrock-Branch": {"pay/card"}, "Bedrock-Operation": {"compensate"},
		"Bedrock-Mode": {"saga"}, "Bedrock-Attempt": {"3"}, "Bedrock-Epoch": {"1152921504606846976"},
		"Bedrock-Deadline": {"2030-01-02T03:04:05.000006Z"}, "Bedrock-Result": {"AP8K"},
		"idempotency-key": {"order-1/pay/card/compensate"}, "Traceparent": {"00-a-b-01"}, "X-Tenant": {"ä"},
	}
	if diff := cmp.Diff(want, header.Of(&call)); diff != "" {
		t.Error(diff)
	}
}

func TestATransactionsHeadersCannotForgeTheCall(t *testing.T) {
	call := txn.Call{Transaction: "t", Branch: "b", Op: "try", Attempt: 1, Headers: map[string]string{
		"bedrock-transaction": "other", "BEDROCK-OPERATION": "confirm", "Idempotency-Key": "x",
	}}
	h := header.Of(&call)
	if h.Get(header.Transaction) != "t" || h.Get(header.Operation) != "try" || h.Get("Idempotency-Key") != "" {
		t.Error(h)
	}
}

// A header that the call lacks cannot be put there either.
func TestATransactionsHeadersCannotAddToTheCall(t *testing.T) {
	call := txn.Call{
		Transaction: "t", Op: "check", Headers: map[string]string{
			"bedrock-branch": "b", "Bedrock-Deadline": "2030-01-02T03:04:05Z",
		},
	}
	got, err := header.Parse(header.Of(&call))
	if err != nil || got.Branch != "" || !got.Deadline.IsZero() {
		t.Error(got, err)
	}
}

// Whoever writes the headers one by one writes the same.
func TestFieldsAreTheHeaders(t *testing.T) {
	call := fullCall()
	fields := http.Header{}
	for name, value := range header.Fields(&call) {
		fields[name] = append(fields[name], value)
	}
	if diff := cmp.Diff(header.Of(&call), fields); diff != "" {
		t.Error(diff)
	}
	for range header.Fields(&call) {
		break // which must not be a panic
	}
}

func TestALongResultStaysAtHome(t *testing.T) {
	call := txn.Call{Transaction: "t", Op: "undo", Result: make([]byte, header.MaxResult)}
	if n := len(header.Of(&call).Get(header.Result)); n == 0 || n > 6<<10 {
		t.Error(n)
	}
	call.Result = append(call.Result, 0)
	if h := header.Of(&call); h.Get(header.Result) != "" {
		t.Error("sent")
	}
}

func TestWhatIsNoCallIsRefused(t *testing.T) {
	of := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, h := range []http.Header{
		of(header.Transaction, "t"),
		of(header.Transaction, "t", header.Operation, "o", header.Attempt, "-1"),
		of(header.Transaction, "t", header.Operation, "o", header.Attempt, "99999999999"),
		of(header.Transaction, "t", header.Operation, "o", header.Epoch, "1e3"),
		of(header.Transaction, "t", header.Operation, "o", header.Deadline, "tomorrow"),
		of(header.Transaction, "t", header.Operation, "o", header.Result, "***"),
	} {
		if call, err := header.Parse(h); err == nil {
			t.Errorf("%v: accepted as %+v", h, call)
		}
	}
	if _, err := header.Parse(nil); !errors.Is(err, header.ErrNoCall) {
		t.Error(err)
	}
}

func TestCredentialsAndConnectionsAreNotTheTransactions(t *testing.T) {
	h := http.Header{"Bedrock-Transaction": {"t"}, "Bedrock-Operation": {"o"}, "Traceparent": {"p", "q"}, "Empty": nil}
	for _, name := range []string{
		"Authorization", "Cookie", "Host", "Te", "User-Agent", "Content-Type", "Grpc-Timeout", "X-Forwarded-For",
		"Proxy-Authorization", "Connect-Protocol-Version", ":authority", "Bedrock-New",
	} {
		h[name] = []string{"secret"}
	}
	call, err := header.Parse(h)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"traceparent": "p"}, call.Headers); diff != "" {
		t.Error(diff)
	}
}

func TestRetryAfter(t *testing.T) {
	sent := time.Date(2015, time.October, 21, 7, 27, 32, 0, time.UTC)
	for _, c := range []struct {
		millis, seconds string
		want            time.Duration
	}{
		{"", "", 0},
		{"250", "1", 250 * time.Millisecond},
		{"", "3", 3 * time.Second},
		{"0", "3", 3 * time.Second},
		{"-5", "soon", 0},
		{"", "1.5", 0},
		{"", "Wed, 21 Oct 2015 07:28:00 GMT", 28 * time.Second},
		{"", "Wed, 21 Oct 2015 07:27:00 GMT", 0},
		{"", "Fri, 23 Oct 2015 07:28:00 GMT", 24 * time.Hour},
		{"250", "Wed, 21 Oct 2015 07:28:00 GMT", 250 * time.Millisecond},
		{"", "9223372036854775807", 24 * time.Hour},
		{"99999999999999999999999", "", 24 * time.Hour},
	} {
		if got := header.ParseRetryAfter(c.millis, c.seconds, sent); got != c.want {
			t.Errorf("%q, %q: %v, want %v", c.millis, c.seconds, got, c.want)
		}
	}
	if s, ms := header.FormatSeconds(1001*time.Millisecond),
		header.FormatRetryAfter(1001*time.Millisecond); s != "2" || ms != "1001" {
		t.Error(s, ms)
	}
	if s, ms := header.FormatSeconds(-time.Second), header.FormatRetryAfter(-time.Second); s != "0" || ms != "0" {
		t.Error(s, ms)
	}
}

func TestExcerptsAreShortLines(t *testing.T) {
	got := header.Excerpt("out of\n" + strings.Repeat("ä", header.MaxExcerpt))
	if want := "out of " + strings.Repeat("ä", (header.MaxExcerpt-len("out of "))/2); got != want {
		t.Errorf("%q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("t", "b", "try", "1", "2", "2030-01-02T03:04:05Z", "AP8K", "traceparent", "v")
	f.Add("", "", "", "-1", "x", "y", "*", "", "")
	f.Add("t", "", "check", "007", "0", "2030-01-02T03:04:05+02:00", "AB==", "x-\x00", "\xff")
	f.Fuzz(func(t *testing.T, tx, branch, op, attempt, epoch, deadline, result, name, value string) {
		call, err := header.Parse(map[string][]string{
			header.Transaction: {tx}, "bedrock-branch": {branch}, header.Operation: {op}, header.Attempt: {attempt},
			header.Epoch: {epoch}, header.Deadline: {deadline}, header.Result: {result}, name: {value},
		})
		if err != nil || len(call.Result) > header.MaxResult || strings.ToLower(name) != name {
			return
		}
		again, err := header.Parse(header.Of(&call))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(call, again); diff != "" && value != "" {
			t.Error(diff)
		}
	})
}
