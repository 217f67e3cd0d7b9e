package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// workshop makes the Java programs: one for each version of Redisson, for all scenes.
type workshop struct {
	folder   string // ends with the test that has opened it
	address  string // of a server to try them on
	versions map[string]func() (*peerProgram, error)
}

// peerProgram is interop/redisson, compiled with a version of Redisson.
type peerProgram struct {
	classes string // the class path
	archive string // of what Java loads to begin with: it starts in a fifth of the time by that
}

func openWorkshop(t *testing.T, versions ...string) *workshop {
	t.Helper()
	const jdk = "package default-jdk-headless"
	for _, program := range []string{"java", "javac", "jar"} {
		testenv.Program(t, program, jdk)
	}
	testenv.Program(t, "mvn", "package maven")
	w := &workshop{
		folder: t.TempDir(), address: "redis://" + testenv.Redis(t, nil).Addr(),
		versions: make(map[string]func() (*peerProgram, error)),
	}
	for _, version := range versions {
		w.versions[version] = sync.OnceValues(func() (*peerProgram, error) { return w.build(version) })
	}
	return w
}

// program returns the one with that version.
func (w *workshop) program(t *testing.T, version string) *peerProgram {
	t.Helper()
	program, err := w.versions[version]()
	if err != nil {
		t.Fatalf("the peer with Redisson %s: %v", version, err)
	}
	return program
}

func (w *workshop) build(version string) (*peerProgram, error) {
	jars, classes := filepath.Join(w.folder, version), filepath.Join(w.folder, version+"-classes")
	sources, err := filepath.Glob("redisson/*.java")
	if err != nil {
		return nil, err
	}
	for _, command := range [][]string{
		{
			"mvn", "-q", "-B", "-f", "redisson/pom.xml", "-Dredisson.version=" + version,
			"dependency:copy-dependencies", "-DoutputDirectory=" + jars,
		},
		append([]string{"javac", "-cp", filepath.Join(jars, "*"), "-d", classes}, sources...),
		{"jar", "--create", "--file", filepath.Join(jars, "peer.jar"), "-C", classes, "."},
	} {
		if err := runCommand(command); err != nil {
			return nil, err
		}
	}
	found, err := filepath.Glob(filepath.Join(jars, "*.jar"))
	if err != nil {
		return nil, err
	}
	p := &peerProgram{classes: strings.Join(found, string(os.PathListSeparator)), archive: jars + ".jsa"}
	return p, p.archiveClasses(w.address)
}

func runCommand(command []string) error {
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return nil
}

// arguments are those of java, for a program that uses these servers.
func (p *peerProgram) arguments(addresses, watchdog, publishing string) []string {
	return []string{
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:SharedArchiveFile=" + p.archive, "-Xshare:auto",
		"-Xlog:disable", "-Xlog:all=error:stderr", "-cp", p.classes, "Peer", addresses, watchdog, publishing,
	}
}

// archiveClasses makes the archive, by a program that ends as soon as it is connected.
func (p *peerProgram) archiveClasses(address string) error {
	return runCommand([]string{
		"java", "-XX:+UseSerialGC", "-XX:ArchiveClassesAtExit=" + p.archive,
		"-cp", p.classes, "Peer", address, "3000", "AUTO",
	})
}
