package mincoord

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestWhatWasAppendedIsInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 16, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range each {
				if err := l.append(fmt.Appendf(nil, "%d/%d", w, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	found := records(t, path) // before it is closed
	for w := range writers {
		for n := range each {
			if !found[fmt.Sprintf("%d/%d", w, n)] {
				t.Fatalf("record %d/%d was acknowledged and is not there", w, n)
			}
		}
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
	if err := l.append([]byte("late")); err == nil {
		t.Error("a closed log took a record")
	}
}

// records reads the file up to the zeros written in advance.
func records(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for {
		size, n := binary.Uvarint(text)
		if size == 0 {
			return found
		}
		found[string(text[n:n+int(size)])] = true
		text = text[n+int(size):]
	}
}
