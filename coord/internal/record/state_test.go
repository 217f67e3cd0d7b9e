package record

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestStateSurvivesTheStore: whatever a transaction holds is read back as it was
// written.
func TestStateSurvivesTheStore(t *testing.T) { rapid.Check(t, survives) }

// FuzzStateSurvivesTheStore is the same for what a fuzzer comes upon.
func FuzzStateSurvivesTheStore(f *testing.F) { f.Fuzz(rapid.MakeFuzz(survives)) }

func survives(t *rapid.T) {
	want := transactionGen().Draw(t, "transaction")
	complete := int64(0)
	if rapid.Bool().Draw(t, "complete") {
		complete = want.Epoch
	}
	rec := recordOf(want, EncodeState(want, complete != 0))
	got, gotComplete, err := Decode(rec)
	if err != nil {
		t.Fatalf("%v in %s", err, rec.State)
	}
	if diff := differ(want, got); diff != "" || gotComplete != complete {
		t.Fatalf("%s\n%s", diff, rec.State)
	}
}

// recordOf is the record of a transaction in a state.
func recordOf(t *txn.Transaction, state []byte) *driver.Record {
	spec, _, _ := EncodeSpec(&t.Definition) // a definition can always be encoded
	return &driver.Record{Epoch: t.Epoch, Spec: spec, State: state}
}

// TestStateIsOrdinaryJSON: what is written by hand says the same as what encoding/json
// makes of the same state.
func TestStateIsOrdinaryJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := transactionGen().Draw(t, "transaction")
		ordinary, err := byReflection(want)
		if err != nil {
			t.Fatal(err)
		}
		a, _, errA := Decode(recordOf(want, ordinary))
		b, _, errB := Decode(recordOf(want, EncodeState(want, true)))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if diff := differ(a, b); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestNoFieldIsForgotten: one that is added to what is stored, and not to the encoder.
func TestNoFieldIsForgotten(t *testing.T) {
	want := &txn.Transaction{Progress: make([]txn.Progress, 1), Attempts: make([]txn.Attempt, 1)}
	want.Branches = make([]txn.Branch, 1)
	setAll(t, reflect.ValueOf(&want.Progress[0]).Elem())
	setAll(t, reflect.ValueOf(&want.Attempts[0]).Elem())
	setAll(t, reflect.ValueOf(&want.Checked).Elem())
	got, _, err := Decode(recordOf(want, EncodeState(want, false)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := differ(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// setAll gives every field that is stored a value other than zero.
func setAll(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case v.Type().Field(i).Tag.Get("json") == "-":
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		case f.Kind() == reflect.Struct:
			setAll(t, f)
		case f.Kind() == reflect.String:
			f.SetString("text")
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Kind() == reflect.Slice:
			f.SetBytes([]byte("bytes"))
		case f.CanInt():
			f.SetInt(7)
		default:
			t.Fatalf("%s.%s: say here what a value of it is", v.Type(), v.Type().Field(i).Name)
		}
	}
}

// FuzzDecode: no state that a store may hand out ends the process, and what is read is
// read the same once it has been written again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"reason":"no","decided":7,"progress":[{"do":{"s":"done","t":1,"c":1,"r":"e30="}}]}`))
	f.Add([]byte(`{"progress":[{"hook":{"s":"unsure","k":5}}],"complete":true,"epoch":3}`))
	f.Add([]byte(`{"attempts":[{"o":"action","a":"2026-01-01T00:00:00Z","r":"done","n":1}],"dropped":2}`))
	f.Add([]byte(`{"checked":{"s":"unsure","d":"2026-01-01T00:00:00.000001Z"}}`))
	f.Add([]byte(`{"progress":[{"do":{"l":5}}],"checked":{"l":1}}`))
	f.Add([]byte(`{"dropped":-1}`))
	spec := []byte(`{"branches":[{"id":"a"},{"id":"b"},{"id":"c"}]}`)
	f.Fuzz(func(t *testing.T, state []byte) {
		first, _, err := Decode(&driver.Record{Spec: spec, State: state})
		if err != nil {
			return
		}
		again, _, err := Decode(&driver.Record{Spec: spec, State: EncodeState(first, false)})
		if err != nil {
			t.Fatalf("%v in what was made of %s", err, state)
		}
		if diff := differ(first, again); diff != "" {
			t.Fatalf("%s\nof %s", diff, state)
		}
	})
}

func differ(a, b *txn.Transaction) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(txn.Transaction{}))
}

// TestHandingOnChangesNothingElse: a record that is put back as it was claimed is complete
// under its new epoch, and otherwise the same, whatever another version keeps there.
func TestHandingOnChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ state, want string }{
		{`{"new":1,"complete":true,"epoch":6}`, `{"new":1,"complete":true,"epoch":7}`},
		{`{"new":1,"complete":true,"epoch":5}`, `{"new":1,"complete":true,"epoch":5}`},
		{`{"new":1}`, `{"new":1}`},
	} {
		if got := string(HandOn([]byte(c.state), 7)); got != c.want {
			t.Errorf("%s became %s, want %s", c.state, got, c.want)
		}
	}
}

// TestWhatContradictsItselfIsNotRead: a record that was damaged, and still is JSON, would end the
// process of whoever takes it for a transaction that was checked.
func TestWhatContradictsItselfIsNotRead(t *testing.T) {
	for name, damaged := range map[string]struct{ spec, state string }{
		"more progress than branches": {
			`{"mode":"saga","branches":[{"id":"a","do":"take"}]}`, `{"progress":[{"do":{"s":"done"}},{}]}`,
		},
		"a branch that waits for nobody": {`{"mode":"saga","branches":[{"id":"a","after":["b"]}]}`, `{}`},
		"a circle":                       {`{"mode":"saga","branches":[{"id":"a","after":["a"]}]}`, `{}`},
		"another mode":                   {`{"mode":"sagx","branches":[{"id":"a"}]}`, `{}`},
	} {
		rec := &driver.Record{ID: "x", Mode: "saga", Spec: []byte(damaged.spec), State: []byte(damaged.state)}
		if tx, _, err := Decode(rec); err == nil {
			t.Errorf("%s: %+v", name, tx)
		}
	}
}
