package stores_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/stores"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// TestEveryStoreIsThere: each answers, says what it is, counts requests or says that it does not, and leaves nothing
// behind.
func TestEveryStoreIsThere(t *testing.T) {
	for _, store := range subject.Stores() {
		t.Run(store.String(), func(t *testing.T) {
			t.Parallel()
			dir := openTemp(t)
			server, err := stores.Start(t.Context(), store, dir)
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if server.Version == "" || server.Addr == "" || (server.Process == 0) != (store == subject.SQLite) {
				t.Errorf("it is %+v", server)
			}
			checkMeter(t, server)
			server.Stop()
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// openTemp makes a folder that others may pass: PostgreSQL is run by somebody else.
func openTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bedrock-stores-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // its subfolders are closed
		t.Fatal(err)
	}
	return dir
}

// checkMeter checks that readings are not counted themselves.
func checkMeter(t *testing.T, server *stores.Server) {
	t.Helper()
	meter, err := stores.OpenMeter(t.Context(), server.Store, server.Addr)
	if server.Store == subject.SQLite {
		if !errors.Is(err, stores.ErrTellsNothing) {
			t.Errorf("it counts requests: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer meter.Close()
	first, err := meter.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := meter.Requests(t.Context())
	if err != nil || second > first {
		t.Errorf("%d requests, and then %d, %v", first, second, err)
	}
}

func TestWrongStoreIsNamed(t *testing.T) {
	if _, err := subject.FindStore("paper"); err == nil {
		t.Error("there is a store called paper")
	}
	for _, store := range subject.Stores() {
		if found, err := subject.FindStore(store.String()); err != nil || found != store {
			t.Errorf("%s is %v, %v", store, found, err)
		}
	}
}
