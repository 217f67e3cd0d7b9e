package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
)

// workshop makes the Java programs: one for each version of Redisson, for all scenes.
type workshop struct {
	folder   string // ends with the test that has opened it
	address  string // of a server to try them on
	versions map[string]func() (*peer.Program, error)
}

func openWorkshop(t *testing.T, versions ...string) *workshop {
	t.Helper()
	peer.CheckTools(t)
	w := &workshop{
		folder: t.TempDir(), address: "redis://" + testenv.Redis(t, nil).Addr(),
		versions: make(map[string]func() (*peer.Program, error)),
	}
	for _, version := range versions {
		w.versions[version] = sync.OnceValues(func() (*peer.Program, error) { return w.build(version) })
	}
	return w
}

// program returns the one with that version.
func (w *workshop) program(t *testing.T, version string) *peer.Program {
	t.Helper()
	program, err := w.versions[version]()
	if err != nil {
		t.Fatalf("the peer with Redisson %s: %v", version, err)
	}
	return program
}

func (w *workshop) build(version string) (*peer.Program, error) {
	folder := filepath.Join(w.folder, version)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	source := peer.Source{Folder: "redisson", Properties: []string{"redisson.version=" + version}, Main: "Peer"}
	return source.Build(folder, w.address, fmt.Sprint(watchdog.Milliseconds()), "AUTO")
}
