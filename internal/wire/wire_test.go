package wire_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/internal/wire"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// filled returns a value with something in every field, so that a field nobody
// thought of does not go missing on the way.
func filled[T any](t *testing.T) T {
	t.Helper()
	var v T
	n := 0
	fill(t, reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(1e9+*n), int64(*n)*1000).UTC()))
		return
	case []byte:
		v.SetBytes([]byte{byte(*n), 0, 255})
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		t.Fatalf("cannot fill %s", v.Type())
	}
}

// over sends a message over the wire.
func over[M proto.Message](t *testing.T, m, empty M) M {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(raw, empty); err != nil {
		t.Fatal(err)
	}
	return empty
}

func TestDefinitionLosesNothing(t *testing.T) {
	for _, want := range []txn.Definition{filled[txn.Definition](t), {}, {Payload: []byte{}, Branches: []txn.Branch{{Payload: []byte{}}}}} {
		got, err := wire.DefinitionOf(over(t, wire.Definition(&want), &bedrockv1.Definition{}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("definition (-want +got):\n%s", diff)
		}
	}
}

func TestTransactionLosesNothing(t *testing.T) {
	for _, want := range []*txn.Transaction{filled[*txn.Transaction](t), {}} {
		got, err := wire.TransactionOf(over(t, wire.Transaction(want), &bedrockv1.Transaction{}))
		if err != nil {
			t.Fatal(err)
		}
		// Early is known to the driver alone, during one call, and is in no store either.
		own := cmpopts.IgnoreFields(txn.Op{}, "Early")
		if diff := cmp.Diff(want, got, own, cmpopts.IgnoreUnexported(txn.Transaction{})); diff != "" {
			t.Errorf("transaction (-want +got):\n%s", diff)
		}
	}
}

func TestCursorLosesNothing(t *testing.T) {
	for _, want := range []driver.Cursor{filled[driver.Cursor](t), {}} {
		if got := wire.CursorOf(wire.Cursor(want)); got != want {
			t.Errorf("cursor %v, want %v", got, want)
		}
	}
}

func TestLocksLoseNothing(t *testing.T) {
	grant := filled[struct {
		Name, Owner string
		TTL         time.Duration
		Token       uint64
		Tokens      int
	}](t)
	want := lockdriver.Grant{Name: grant.Name, Owner: grant.Owner, TTL: grant.TTL, Token: grant.Token, Tokens: grant.Tokens}
	if diff := cmp.Diff(want, wire.GrantOf(over(t, wire.Grant(want), &bedrockv1.Grant{}))); diff != "" {
		t.Errorf("grant (-want +got):\n%s", diff)
	}
	for _, want := range []lockdriver.Info{filled[lockdriver.Info](t), {}, {TTL: -1}} {
		if diff := cmp.Diff(want, wire.LockOf(over(t, wire.Lock(want), &bedrockv1.Lock{}))); diff != "" {
			t.Errorf("lock (-want +got):\n%s", diff)
		}
	}
	for level := lockdriver.OK; level <= lockdriver.Danger; level++ {
		want := lockdriver.Finding{Level: level, What: "a", Means: "b"}
		if got := wire.FindingOf(wire.Finding(want)); got != want {
			t.Errorf("finding %v, want %v", got, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	returned := map[string][]byte{"a": []byte("1")}
	for _, tc := range []struct {
		result  txn.Result
		err     error
		pending bool
	}{
		{result: txn.Result{ID: "t", Outcome: txn.Committed, Returned: returned}},
		{result: txn.Result{ID: "t", Outcome: txn.RolledBack, Reason: "r"}, err: &txn.RolledBackError{ID: "t", Reason: "r"}},
		{result: txn.Result{ID: "t", Outcome: txn.InDoubt, Reason: "r"}, err: &txn.ParkedError{ID: "t", Reason: "r"}},
		{result: txn.Result{ID: "t", Outcome: txn.InDoubt, Reason: "r"}, err: &txn.InDoubtError{ID: "t"}},
		{result: txn.Result{ID: "t", Outcome: txn.InDoubt}, err: &txn.InDoubtError{ID: "t", Err: context.Canceled}, pending: true},
	} {
		m, err := wire.Result("t", tc.result, tc.err)
		if err != nil {
			t.Fatal(err)
		}
		got, pending, err := wire.ResultOf(over(t, m, &bedrockv1.Result{}))
		if pending != tc.pending {
			t.Errorf("%v: pending %v", tc.err, pending)
		}
		if diff := cmp.Diff(tc.result, got); diff != "" {
			t.Errorf("%v: result (-want +got):\n%s", tc.err, diff)
		}
		if reflect.TypeOf(err) != reflect.TypeOf(tc.err) {
			t.Errorf("error %v, want %v", err, tc.err)
		}
	}
	if _, err := wire.Result("t", txn.Result{}, txn.ErrNotFound); !errors.Is(err, txn.ErrNotFound) {
		t.Errorf("an error that is no outcome became %v", err)
	}
	if _, _, err := wire.ResultOf(&bedrockv1.Result{Outcome: "something new"}); err == nil {
		t.Error("an outcome nobody knows is taken for a success")
	}
	if _, _, err := wire.ResultOf(nil); err == nil {
		t.Error("no result is taken for a success")
	}
}

// TestErrorsAreNotTakenForAnswers: what does not come from the service is not
// certain.
func TestErrorsAreNotTakenForAnswers(t *testing.T) {
	for _, err := range []error{
		errors.New("broken pipe"), context.Canceled, connect.NewError(connect.CodeNotFound, errors.New("by a proxy")),
		connect.NewWireError(connect.CodeUnavailable, errors.New("by a proxy")), wire.TransactionError(txn.ErrNotFound),
	} {
		if answered, _ := wire.TransactionErrorOf(err); answered {
			t.Errorf("%v: taken for an answer", err)
		}
		if answered, _ := wire.LockErrorOf(err); answered {
			t.Errorf("%v: taken for an answer of the lock service", err)
		}
	}
	if wire.TransactionError(errors.New("disk on fire")) != nil || wire.LockError(errors.New("disk on fire")) != nil {
		t.Error("a failure of the store is told to clients")
	}
}

// TestADoubtIsTakenForItsCause: what was answered to a later attempt is not certain of
// the earlier one.
func TestADoubtIsTakenForItsCause(t *testing.T) {
	for _, cause := range []error{
		&txn.FieldError{Field: "definition", Problem: "is too large"}, &txn.RolledBackError{ID: "a"}, &txn.ParkedError{ID: "a"},
		txn.ErrNotFound, txn.ErrDecided, txn.ErrUnavailable, txn.ErrClosed, driver.ErrUnavailable, context.Canceled,
	} {
		p := &bedrockv1.Problem{}
		detail, err := wire.TransactionError(&txn.InDoubtError{ID: "a", Err: cause}).Details()[0].Value()
		if err != nil {
			t.Fatal(err)
		}
		proto.Merge(p, detail)
		if p.GetKind() != "in_doubt" || p.GetId() != "a" {
			t.Errorf("%v is told as %v", cause, p)
		}
	}
}

func TestRenewals(t *testing.T) {
	for _, want := range []error{
		nil, lockdriver.ErrLost, lockdriver.ErrRefused, lockdriver.ErrUnavailable, lockdriver.ErrUnsupported,
	} {
		if got := wire.RenewalOf(wire.Renewal(want)); !errors.Is(got, want) {
			t.Errorf("renewal %v, want %v", got, want)
		}
	}
	got := wire.RenewalOf(wire.Renewal(errors.New("timeout")))
	if got == nil || errors.Is(got, lockdriver.ErrLost) || errors.Is(got, lockdriver.ErrUnavailable) {
		t.Errorf("an unknown renewal is %v", got)
	}
	if wire.RenewalOf(nil) == nil || wire.RenewalOf(&bedrockv1.Renewal{State: "something new"}) == nil {
		t.Error("an answer nobody knows is taken for a success")
	}
}

func TestValueIsExactOrRefused(t *testing.T) {
	for text, exact := range map[string]bool{
		`1`: true, `-0.5`: true, `1e3`: true, `9007199254740991`: true, `"x"`: true, `null`: true, `{"a":[true,{}]}`: true,
		`9007199254740993`: false, `9007199254740992`: false, `0.12345678901234567`: false, `1e400`: false,
		`{"a":[1,9007199254740993]}`: false, ``: false, `{`: false, `1 2`: false, "\x00": false,
	} {
		if _, got := wire.Value([]byte(text)); got != exact {
			t.Errorf("%s: exact %v, want %v", text, got, exact)
		}
	}
}
