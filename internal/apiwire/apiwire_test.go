package apiwire_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/modes"
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
	case lockdriver.Kind:
		v.Set(reflect.ValueOf(lockdriver.Semaphore))
		return
	case lockdriver.Mode:
		v.Set(reflect.ValueOf(lockdriver.Permit))
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

// inWordsOf keeps of a definition what its mode has words for.
func inWordsOf(mode string, d txn.Definition) txn.Definition {
	d.Mode = mode
	for i := range d.Branches {
		b := &d.Branches[i]
		switch mode {
		case "saga":
			b.Confirm = ""
		case "msg":
			b.Do, b.Undo, b.After, b.Use = "", "", nil, nil
		}
	}
	return d
}

func TestDefinitionLosesNothing(t *testing.T) {
	for _, mode := range modes.Names() {
		for _, want := range []txn.Definition{
			inWordsOf(mode, filled[txn.Definition](t)),
			{Mode: mode},
			{Mode: mode, Payload: []byte{}, Branches: []txn.Branch{{Payload: []byte{}}, {ID: "b"}}},
		} {
			m, err := apiwire.Definition(&want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := apiwire.DefinitionOf(over(t, m, &bedrockv1.Definition{}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", mode, diff)
			}
		}
	}
}

// TestWhatAModeHasNoWordFor is refused by who writes it: on the other side it would be gone.
func TestWhatAModeHasNoWordFor(t *testing.T) {
	for field, d := range map[string]txn.Definition{
		"branches[0].confirm": {Mode: "saga", Branches: []txn.Branch{{Confirm: "f"}}},
		"branches[0].do":      {Mode: "msg", Branches: []txn.Branch{{Do: "f"}}},
		"branches[0].undo":    {Mode: "msg", Branches: []txn.Branch{{Undo: "f"}}},
		"branches[0].after":   {Mode: "msg", Branches: []txn.Branch{{After: []string{"x"}}}},
		"branches[1].use":     {Mode: "msg", Branches: []txn.Branch{{}, {Use: map[string]string{"x": "y"}}}},
		"mode":                {Mode: "none"},
	} {
		_, err := apiwire.Definition(&d)
		if wrong, ok := errors.AsType[*txn.InvalidError](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestPartsOfAnotherMode would be carried out by nobody.
func TestPartsOfAnotherMode(t *testing.T) {
	steps := []*bedrockv1.Step{{Id: "a"}}
	branches := []*bedrockv1.Branch{{Id: "a"}}
	receivers := []*bedrockv1.Receiver{{Id: "a"}}
	for field, all := range map[string][]*bedrockv1.Definition{
		"steps":    {{Mode: "tcc", Steps: steps}, {Mode: "msg", Steps: steps}},
		"branches": {{Mode: "saga", Branches: branches}, {Mode: "msg", Branches: branches}},
		"deliver":  {{Mode: "saga", Deliver: receivers}, {Mode: "tcc", Deliver: receivers}},
		"mode":     {{Mode: "sga"}, {}},
		"steps[0].after": {{Mode: "saga", Steps: []*bedrockv1.Step{{
			After: &structpb.ListValue{Values: []*structpb.Value{structpb.NewBoolValue(true)}},
		}}}},
	} {
		for _, m := range all {
			_, err := apiwire.DefinitionOf(m)
			if wrong, ok := errors.AsType[*txn.InvalidError](err); !ok || wrong.Field != field {
				t.Errorf("%s of mode %s: %v", field, m.GetMode(), err)
			}
		}
	}
}

func TestTransactionLosesNothing(t *testing.T) {
	for _, mode := range append(modes.Names(), "of another version") {
		filled := filled[*txn.Transaction](t)
		filled.Definition = inWordsOf(mode, filled.Definition)
		for _, want := range []*txn.Transaction{filled, {Definition: txn.Definition{Mode: mode}}} {
			got, err := apiwire.TransactionOf(over(t, apiwire.Transaction(want), &bedrockv1.Transaction{}))
			if err != nil {
				t.Fatal(err)
			}
			// Early is known to the driver alone, during one call, and is in no store either.
			own := cmpopts.IgnoreFields(txn.Op{}, "Early")
			if diff := cmp.Diff(want, got, own, cmpopts.IgnoreUnexported(txn.Transaction{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", mode, diff)
			}
		}
	}
}

// TestAPartOfAnotherVersionHidesATransaction: a saga of it may have what sagas do not have here.
func TestAPartOfAnotherVersionHidesATransaction(t *testing.T) {
	for mode, b := range map[string]txn.Branch{"saga": {ID: "a", Confirm: "f"}, "msg": {ID: "a", Do: "f"}} {
		want := &txn.Transaction{
			Definition: txn.Definition{Mode: mode, Branches: []txn.Branch{b}}, Progress: []txn.Progress{{}},
		}
		got, err := apiwire.TransactionOf(apiwire.Transaction(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(txn.Transaction{})); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPartsThatAreNotKnownHere are shown by their IDs, which is all that is told of them.
func TestPartsThatAreNotKnownHere(t *testing.T) {
	got, err := apiwire.TransactionOf(&bedrockv1.Transaction{
		Definition: &bedrockv1.Definition{Mode: "new"},
		Progress:   []*bedrockv1.Progress{{Id: "a", Operations: []*bedrockv1.Operation{{Op: "do", State: "done"}}}},
	})
	if err != nil || len(got.Branches) != 1 || got.Branches[0].ID != "a" || got.Progress[0].Do.State != txn.Done {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCursorLosesNothing(t *testing.T) {
	for _, want := range []driver.Cursor{filled[driver.Cursor](t), {}} {
		if got := apiwire.CursorOf(apiwire.Cursor(want)); got != want {
			t.Errorf("cursor %v, want %v", got, want)
		}
	}
}

// withMeta has the metadata of all holders, and of all in line, in the form in which it is stored.
func withMeta(i lockdriver.Info) lockdriver.Info {
	for n := range i.Holders {
		h := &i.Holders[n]
		h.Meta = lockdriver.EncodeMeta(lockdriver.DecodeMeta(h.Meta))
	}
	for n := range i.Line {
		i.Line[n].Meta = lockdriver.EncodeMeta(lockdriver.DecodeMeta(i.Line[n].Meta))
	}
	return i
}

func TestLocksLoseNothing(t *testing.T) {
	grant := filled[struct {
		Name, Owner string
		TTL         time.Duration
		Mode        lockdriver.Mode
		Permits     int
		Upgradeable bool
		Token       uint64
		Tokens      int
	}](t)
	want := lockdriver.Grant{
		Name: grant.Name, Owner: grant.Owner, Mode: grant.Mode, Permits: grant.Permits,
		Upgradeable: grant.Upgradeable, TTL: grant.TTL, Token: grant.Token, Tokens: grant.Tokens,
	}
	got, err := apiwire.GrantOf(over(t, apiwire.Grant(want), &bedrockv1.Grant{}))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("grant (-want +got):\n%s, error %v", diff, err)
	}
	for _, want := range []lockdriver.Info{
		filled[lockdriver.Info](t), {}, {Holders: []lockdriver.Holder{{}, {TTL: -1}}}, {Line: []lockdriver.InLine{{}}},
	} {
		want = withMeta(want)
		got, err := apiwire.LockOf(over(t, apiwire.Lock(want), &bedrockv1.Lock{}))
		for i := range want.Holders {
			want.Holders[i].Owner = lockdriver.PublicOwner(want.Holders[i].Owner)
		}
		for i := range want.Line {
			want.Line[i].Owner = lockdriver.PublicOwner(want.Line[i].Owner)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("lock (-want +got):\n%s, error %v", diff, err)
		}
	}
	for _, want := range []lockdriver.Request{
		filled[lockdriver.Request](t), {}, {Above: lockdriver.MaxAbove}, {Age: time.Millisecond},
	} {
		want.Linger = 0 // a server tells nothing unasked, so nothing lingers at its clients
		got, err := apiwire.RequestOf(over(t, apiwire.Request(want), &bedrockv1.AcquireRequest{}))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("request (-want +got):\n%s, error %v", diff, err)
		}
	}
	for level := lockdriver.OK; level <= lockdriver.Danger; level++ {
		want := lockdriver.Finding{Level: level, What: "a", Means: "b"}
		if got := apiwire.FindingOf(apiwire.Finding(want)); got != want {
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
		{
			result: txn.Result{ID: "t", Outcome: txn.RolledBack, Reason: "r"},
			err:    &txn.RolledBackError{ID: "t", Reason: "r"},
		},
		{
			result: txn.Result{ID: "t", Outcome: txn.InDoubt, Reason: "r", Parked: "p"},
			err:    &txn.ParkedError{ID: "t", Reason: "p"},
		},
		{result: txn.Result{ID: "t", Outcome: txn.InDoubt, Reason: "r"}, err: &txn.InDoubtError{ID: "t"}},
		{
			result: txn.Result{ID: "t", Outcome: txn.InDoubt}, err: &txn.InDoubtError{ID: "t", Err: context.Canceled},
			pending: true,
		},
	} {
		m, err := apiwire.Result("t", tc.result, tc.err)
		if err != nil {
			t.Fatal(err)
		}
		got, pending, err := apiwire.ResultOf(over(t, m, &bedrockv1.Result{}))
		if pending != tc.pending {
			t.Errorf("%v: pending %v", tc.err, pending)
		}
		if diff := cmp.Diff(tc.result, got); diff != "" {
			t.Errorf("%v: result (-want +got):\n%s", tc.err, diff)
		}
		if reflect.TypeOf(err) != reflect.TypeOf(tc.err) {
			t.Errorf("error %v, want %v", err, tc.err)
		}
		if tc.result.Parked != "" && err.Error() != tc.err.Error() {
			t.Errorf("error %q, want %q", err, tc.err)
		}
	}
	if _, err := apiwire.Result("t", txn.Result{}, txn.ErrNotFound); !errors.Is(err, txn.ErrNotFound) {
		t.Errorf("an error that is no outcome became %v", err)
	}
	if _, _, err := apiwire.ResultOf(&bedrockv1.Result{Outcome: "something new"}); err == nil {
		t.Error("an outcome nobody knows is taken for a success")
	}
	if _, _, err := apiwire.ResultOf(nil); err == nil {
		t.Error("no result is taken for a success")
	}
}

// TestErrorsAreNotTakenForAnswers: what does not come from the service is not
// certain.
func TestErrorsAreNotTakenForAnswers(t *testing.T) {
	for _, err := range []error{
		errors.New("broken pipe"), context.Canceled, connect.NewError(connect.CodeNotFound, errors.New("by a proxy")),
		connect.NewWireError(connect.CodeUnavailable, errors.New("by a proxy")),
		apiwire.TransactionError(txn.ErrNotFound),
	} {
		if answered, _ := apiwire.TransactionErrorOf(err); answered {
			t.Errorf("%v: taken for an answer", err)
		}
		if answered, _ := apiwire.LockErrorOf(err); answered {
			t.Errorf("%v: taken for an answer of the lock service", err)
		}
	}
	if apiwire.TransactionError(errors.New("disk on fire")) != nil ||
		apiwire.LockError(errors.New("disk on fire")) != nil {
		t.Error("a failure of the store is told to clients")
	}
}

// TestADoubtIsTakenForItsCause: what was answered to a later attempt is not certain of
// the earlier one.
func TestADoubtIsTakenForItsCause(t *testing.T) {
	for _, cause := range []error{
		&txn.InvalidError{Field: "definition", Problem: "is too large"}, &txn.RolledBackError{ID: "a"},
		&txn.ParkedError{ID: "a"},
		txn.ErrNotFound, txn.ErrDecided, txn.ErrUnavailable, txn.ErrClosed, driver.ErrUnavailable, context.Canceled,
	} {
		p := &bedrockv1.Problem{}
		detail, err := apiwire.TransactionError(&txn.InDoubtError{ID: "a", Err: cause}).Details()[0].Value()
		if err != nil {
			t.Fatal(err)
		}
		proto.Merge(p, detail)
		if p.GetKind() != "in_doubt" || p.GetId() != "a" {
			t.Errorf("%v is told as %v", cause, p)
		}
	}
}

// TestACallUnderWayIsTakenForItsCause: why its caller has left says nothing of what becomes of it.
func TestACallUnderWayIsTakenForItsCause(t *testing.T) {
	for _, cause := range []error{
		lockdriver.ErrRefused, lockdriver.ErrUnavailable, lockdriver.ErrUnsupported, lockdriver.ErrLost,
		context.Canceled,
	} {
		err := fmt.Errorf("acquire: %w", &lockdriver.UnderwayError{Err: fmt.Errorf("closed: %w", cause)})
		cancelled := errors.Is(cause, context.Canceled)
		if sent := apiwire.LockError(err); sent != nil && (!cancelled || len(sent.Details()) > 0) {
			t.Errorf("%v: told as %v", err, sent)
		}
		if got := apiwire.Renewal(err); got.GetState() != "unknown" {
			t.Errorf("%v: a renewal is told as %v", err, got)
		}
	}
}

// TestADoubtIsToldOnce: what crosses the wire is why, and not again that nobody knows.
func TestADoubtIsToldOnce(t *testing.T) {
	for _, doubt := range []*txn.InDoubtError{{ID: "a", Err: errors.New("the store is away")}, {ID: "a"}} {
		sent := apiwire.TransactionError(doubt)
		arrived := connect.NewWireError(sent.Code(), sent.Unwrap())
		for _, detail := range sent.Details() {
			arrived.AddDetail(detail)
		}
		told, err := apiwire.TransactionErrorOf(arrived)
		if got, ok := errors.AsType[*txn.InDoubtError](err); !told || !ok || got.Error() != doubt.Error() {
			t.Errorf("got  %v\nwant %v", err, doubt)
		}
	}
}

// TestRefusalsTellTheTimeLeft: what is not known must not arrive as no time at all, nor the
// last moment as something not known.
func TestRefusalsTellTheTimeLeft(t *testing.T) {
	for _, left := range []time.Duration{time.Minute, 1, 0, lockdriver.UnknownTTL} {
		sent := apiwire.LockError(&lockdriver.HeldError{Owner: "a", TTL: left})
		arrived := connect.NewWireError(sent.Code(), sent.Unwrap())
		for _, detail := range sent.Details() {
			arrived.AddDetail(detail)
		}
		told, err := apiwire.LockErrorOf(arrived)
		held, ok := errors.AsType[*lockdriver.HeldError](err)
		if !told || !ok || held.TTL != left || held.Owner != lockdriver.PublicOwner("a") {
			t.Errorf("with %d left: got %+v (%v)", left, held, err)
		}
	}
}

// TestRefusalsTellThePlaceInLine, when to ask again so as to keep it, and for how long who stands may be granted the
// lock; not what the store tells the server alone.
func TestRefusalsTellThePlaceInLine(t *testing.T) {
	refusal := filled[lockdriver.HeldError](t)
	for _, want := range []lockdriver.HeldError{refusal, {}} {
		sent := apiwire.LockError(&want)
		arrived := connect.NewWireError(sent.Code(), sent.Unwrap())
		for _, detail := range sent.Details() {
			arrived.AddDetail(detail)
		}
		_, err := apiwire.LockErrorOf(arrived)
		got, ok := errors.AsType[*lockdriver.HeldError](err)
		want.Owner, want.Listen = lockdriver.PublicOwner(want.Owner), false
		if diff := cmp.Diff(&want, got); diff != "" || !ok {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestWrongInputLosesItsFieldOnTheWay: only the server's store may know what is wrong with a name.
func TestWrongInputLosesItsFieldOnTheWay(t *testing.T) {
	wrong := &txn.InvalidError{Field: "name", Problem: "is reserved"}
	sent := apiwire.LockError(lockdriver.Refused(wrong))
	arrived := connect.NewWireError(sent.Code(), sent.Unwrap())
	for _, detail := range sent.Details() {
		arrived.AddDetail(detail)
	}
	told, err := apiwire.LockErrorOf(arrived)
	got, ok := errors.AsType[*txn.InvalidError](err)
	if !told || !ok || *got != *wrong || !errors.Is(err, lockdriver.ErrRefused) {
		t.Errorf("got %v, want %v", err, wrong)
	}
}

// TestModesNobodyKnowsAreNotExclusive: who reads one must not take it for what it is not.
func TestModesNobodyKnowsAreNotExclusive(t *testing.T) {
	_, errRequest := apiwire.RequestOf(&bedrockv1.AcquireRequest{Mode: "wrote"})
	_, errGrant := apiwire.GrantOf(&bedrockv1.Grant{Mode: "wrote"})
	_, errLock := apiwire.LockOf(&bedrockv1.Lock{Holders: []*bedrockv1.Holder{{Mode: "wrote"}}})
	for what, err := range map[string]error{"request": errRequest, "grant": errGrant, "lock": errLock} {
		if !errors.Is(err, txn.ErrInvalid) {
			t.Errorf("the mode of a %s: %v", what, err)
		}
	}
}

func TestRenewals(t *testing.T) {
	for _, want := range []error{
		nil, lockdriver.ErrLost, lockdriver.ErrRefused, lockdriver.ErrUnavailable, lockdriver.ErrUnsupported,
	} {
		if got := apiwire.RenewalOf(apiwire.Renewal(want)); !errors.Is(got, want) {
			t.Errorf("renewal %v, want %v", got, want)
		}
	}
	got := apiwire.RenewalOf(apiwire.Renewal(errors.New("timeout")))
	if got == nil || errors.Is(got, lockdriver.ErrLost) || errors.Is(got, lockdriver.ErrUnavailable) {
		t.Errorf("an unknown renewal is %v", got)
	}
	if apiwire.RenewalOf(nil) == nil || apiwire.RenewalOf(&bedrockv1.Renewal{State: "something new"}) == nil {
		t.Error("an answer nobody knows is taken for a success")
	}
}
