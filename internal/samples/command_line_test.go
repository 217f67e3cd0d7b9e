package samples

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The first line that README shows of the binary works as printed beside a server.
func TestREADMECommandLineBesideAServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("README's lines are for a shell")
	}
	dir := t.TempDir()
	// What go build links, the next run links again; what go run links is kept, and cp is run with it.
	command(t, root, "go", "run", "-exec", "cp", "./cmd/bedrock", filepath.Join(dir, "bedrock"))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("BEDROCK_SERVER", serveIn(t, dir)) // in place of the address that is everybody's
	if got := command(t, root, "sh", "-c", firstCommandLine(t)); !strings.Contains(got, "committed") {
		t.Errorf("said %q", got)
	}
}

// firstCommandLine returns the first line of README that begins with the name of the
// binary.
func firstCommandLine(t *testing.T) string {
	t.Helper()
	for _, b := range blocksOf(t, "README.md", "sh") {
		for line := range strings.Lines(b.text) {
			if strings.HasPrefix(line, "bedrock ") {
				return line
			}
		}
	}
	t.Fatal("README shows no line of the binary")
	return ""
}

// serveIn starts the server that is in a folder, and returns where it is.
func serveIn(t *testing.T, dir string) (url string) {
	t.Helper()
	server := exec.CommandContext(t.Context(), filepath.Join(dir, "bedrock"), "serve", "--listen", "127.0.0.1:0")
	server.Dir = dir
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), "console "); found {
			return strings.TrimRight(strings.TrimSpace(rest), "/")
		}
	}
	t.Fatal("the server ended without a word of where it is")
	return ""
}
