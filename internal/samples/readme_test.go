package samples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// README's Go blocks are programs: each compiles as printed, in a module that has
// nothing else in it. One that needs no server runs, too.
func TestREADMEProgramsInAnEmptyModule(t *testing.T) {
	programs := blocksOf(t, "README.md", "go")
	if len(programs) < 2 {
		t.Fatalf("%d programs, want one for locks and one for transactions", len(programs))
	}
	for _, b := range programs {
		t.Run("line "+strconv.Itoa(b.line), func(t *testing.T) {
			dir := emptyModule(t)
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			command(t, dir, "go", "vet", ".")
			if strings.Contains(b.text, "sqlite.Open") {
				command(t, dir, "go", "run", ".")
			}
		})
	}
}

// emptyModule makes a module that only knows where Bedrock is, and finds everything else
// where this module found it.
func emptyModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	bedrock, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	command(t, dir, "go", "mod", "init", "example.com/shop")
	command(t, dir, "go", "mod", "edit", "-require", modulePath+"@v0.0.0", "-replace", modulePath+"="+bedrock)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command runs a program in a folder, without the network.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
