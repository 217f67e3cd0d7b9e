package lock_test

import (
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Errors for tests to recognise.
var (
	errTired = errors.New("tired of waiting")
	errDown  = errors.Join(driver.ErrUnavailable, errors.New("connection refused"))
	errMute  = errors.New("connection reset")
)

func wantHeldBy(t *testing.T, err error, name, owner string) {
	t.Helper()
	wantErr(t, err, lock.ErrHeld)
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok {
		t.Errorf("%v is no HeldError", err)
		return
	}
	wantEqual(t, "name", held.Name, name)
	wantEqual(t, "owner", held.Owner, owner)
}
