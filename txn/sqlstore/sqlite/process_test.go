package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// writeTo names the file that this program, started again, writes to until it is
// killed.
const writeTo = "BEDROCK_WRITE_TO"

// asOwner is set when it is to have the file to itself.
const asOwner = "BEDROCK_OWNS_THE_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(writeTo); path != "" {
		write(path)
		os.Exit(1) // it ends only by failing
	}
	goleak.VerifyTestMain(m)
}

// write creates and updates records, and says so when they are acknowledged.
func write(path string) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path, &sqlite.Options{Shared: os.Getenv(asOwner) == ""})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	failed := make(chan error)
	for w := range 16 {
		go func() {
			for n := 0; ; n++ {
				rec := record(fmt.Sprintf("%d-%d-%d", os.Getpid(), w, n))
				rec.Owner, rec.Due = "writer", time.Now().Add(time.Hour)
				if err := errors.Join(store.Create(ctx, rec), store.Update(ctx, rec.Version(), rec)); err != nil {
					failed <- err
				}
				fmt.Fprintln(os.Stdout, "wrote", rec.ID)
			}
		}()
	}
	fmt.Fprintln(os.Stdout, <-failed)
}

func record(id string) *driver.Record {
	return &driver.Record{
		ID: id, Mode: "saga", Status: driver.Running, Created: time.Now(), State: []byte(strings.Repeat("x", 500)),
	}
}

// TestKilledProcess: two processes write to one file; one after the other is
// killed amid writes. What either acknowledged is there.
func TestKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	store := open(t, path, &sqlite.Options{Shared: true})
	const processes, enough = 2, 300
	wrote := make(chan []string, processes)
	for range processes {
		go func() { wrote <- killAfter(t, path, enough) }()
	}
	for range processes {
		ids := <-wrote
		if len(ids) < enough {
			t.Fatalf("a process acknowledged %d writes and ended", len(ids))
		}
		for _, id := range ids {
			if rec, err := store.Load(t.Context(), id); err != nil || rec.Revision != 2 || len(rec.State) != 500 {
				t.Fatalf("acknowledged, and then: %v, %v", rec, err)
			}
		}
	}
	if err := store.Create(t.Context(), record("afterwards")); err != nil {
		t.Error(err)
	}
}

// killAfter runs a writer, kills it after n acknowledged writes, and returns
// those and what it said on until it was dead.
func killAfter(t *testing.T, path string, n int) (ids []string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writeTo+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	defer cmd.Wait()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		id, wrote := strings.CutPrefix(lines.Text(), "wrote ")
		if !wrote {
			t.Errorf("writer: %s", lines.Text())
			continue
		}
		if ids = append(ids, id); len(ids) == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	return ids
}
