package apiwire_test

import (
	"errors"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// arrived is an error of the lock service as its client reads it.
func arrived(t *testing.T, err error) error {
	t.Helper()
	sent := apiwire.LockError(err)
	if sent == nil {
		t.Fatalf("%v is not told", err)
	}
	wire := connect.NewWireError(sent.Code(), sent.Unwrap())
	for _, detail := range sent.Details() {
		wire.AddDetail(detail)
	}
	told, meant := apiwire.LockErrorOf(wire)
	if !told {
		t.Errorf("%v: not taken for an answer", err)
	}
	return meant
}

// TestARefusalToCountDownLosesItsNumbers on the way.
func TestARefusalToCountDownLosesItsNumbers(t *testing.T) {
	for _, want := range []*driver.CountError{{Left: 2, By: 3}, {By: driver.MaxCount}} {
		err := arrived(t, want)
		got, ok := errors.AsType[*driver.CountError](err)
		if !ok || *got != *want || !errors.Is(err, driver.ErrBelowZero) || !errors.Is(err, driver.ErrRefused) {
			t.Errorf("got %+v (%v), want %+v", got, err, want)
		}
	}
}

// TestALatchIsToldAsAMutex, to who asks for a lock under its name.
func TestALatchIsToldAsAMutex(t *testing.T) {
	want := driver.KindError{Found: driver.Latch, Wanted: driver.Semaphore}
	if got, ok := errors.AsType[*driver.KindError](arrived(t, &want)); !ok || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestNamesThatAreApartAreToldAsNoBundles: other names may be had in one step.
func TestNamesThatAreApartAreToldAsNoBundles(t *testing.T) {
	err := arrived(t, apiwire.ErrApart)
	if !errors.Is(err, apiwire.ErrApart) || !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("apart is %v", err)
	}
	if err := arrived(t, driver.ErrUnsupported); errors.Is(err, apiwire.ErrApart) {
		t.Errorf("unsupported is %v", err)
	}
}

// TestBundlesLoseNothing of what their locks have, nor their order.
func TestBundlesLoseNothing(t *testing.T) {
	reqs := []driver.Request{
		{Name: "b", Owner: "o", TTL: time.Second, Tokens: 1, Meta: "m"}, {Name: "a", Owner: "o", TTL: 2, Tokens: 9},
	}
	m := over(t, apiwire.Bundle(reqs), &bedrockv1.AcquireAllRequest{})
	for i, one := range m.GetRequests() {
		got, err := apiwire.RequestOf(one)
		if diff := cmp.Diff(reqs[i], got); diff != "" || err != nil {
			t.Errorf("request %d (-want +got):\n%s, error %v", i, diff, err)
		}
	}
	grants := []driver.Grant{{Name: "b", Owner: "o", Token: 7, Tokens: 1}, {Name: "a", Owner: "o", Token: 8, Tokens: 9}}
	answer := over(t, apiwire.Granted(grants), &bedrockv1.AcquireAllResponse{})
	got, err := apiwire.GrantedOf(answer, 2)
	if diff := cmp.Diff(grants, got); diff != "" || err != nil {
		t.Errorf("grants (-want +got):\n%s, error %v", diff, err)
	}
	if _, err := apiwire.GrantedOf(answer, 3); err == nil {
		t.Error("a lock that was not granted is taken for granted")
	}
}

// TestKindsToListenForLoseTheirName: a latch has no mode to stand for it.
func TestKindsToListenForLoseTheirName(t *testing.T) {
	for kind := range driver.Latch + 1 {
		if got, err := apiwire.ListeningOf(apiwire.Listening(kind)); got != kind || err != nil {
			t.Errorf("%s arrives as %s, error %v", kind, got, err)
		}
	}
	if kind, err := apiwire.ListeningOf(""); kind != driver.Mutex || err != nil {
		t.Errorf("left out it is %s, error %v", kind, err)
	}
	if _, err := apiwire.ListeningOf("latchkey"); err == nil {
		t.Error("what is no kind is listened for")
	}
}
