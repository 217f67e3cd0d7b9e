package locktest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

const (
	// updateFlag has the test write the table instead of comparing it.
	updateFlag = "update"
	root       = "../.."
	tableFile  = root + "/docs/conformance.md"
)

const preface = `# Which failure is prevented where

Every backend of locks goes through the same tests, [lock/locktest](../lock/locktest): each is named after the failure
that it would see. The tables say which of them the backends of this module pass, *✓*, and why not where they need not:
the numbers are those of the [reasons](#reasons). Nothing is left out without one. Under which conditions all of that
holds, and what is not promised at all, is in [guarantees](guarantees.md).

This is written from what the tests declare, and compared by a test: ` +
	"`go test ./lock/locktest -run Told -update`" + `.
A conformance test that is run with ` + "`-v`" + ` ends with its own column, and what became of it.

`

// told is the text of the table.
type told struct {
	text     strings.Builder
	backends []conformance.Backend
	exempts  []map[string]string // of each backend, by behaviour
	reasons  []string            // as they are numbered
}

// TestToldIsWhatIsShown: docs/conformance.md says what the conformance tests declare.
func TestToldIsWhatIsShown(t *testing.T) {
	is := &told{backends: conformance.Backends()}
	for _, b := range is.backends {
		is.exempts = append(is.exempts, (&locktest.Backend{Exempt: b.Exempt}).Exempts())
	}
	is.text.WriteString(preface)
	is.writeBackends()
	for _, theme := range locktest.Themes() {
		is.writeTheme(theme)
	}
	is.text.WriteString("\n## Reasons\n\n")
	for i, reason := range is.reasons {
		fmt.Fprintf(&is.text, "%d. %s\n", i+1, reason)
	}
	if flag.Lookup(updateFlag).Value.String() == "true" {
		if err := os.WriteFile(tableFile, []byte(is.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old, err := os.ReadFile(tableFile); err != nil || string(old) != is.text.String() {
		t.Errorf("%s is not what the tests declare; write it with go test ./lock/locktest -run Told -update: %v\n%s",
			tableFile, err, is.text.String())
	}
}

// writeBackends says which tests the columns are.
func (is *told) writeBackends() {
	is.text.WriteString("| backend | shown | by |\n|---|---|---|\n")
	all := 0
	for _, theme := range locktest.Themes() {
		all += len(theme.Names)
	}
	for i, b := range is.backends {
		fmt.Fprintf(&is.text, "| %s | %d of %d | `%s`: %s |\n", b.Name, all-len(is.exempts[i]), all, b.Folder, b.Test)
	}
}

func (is *told) writeTheme(theme locktest.Theme) {
	fmt.Fprintf(&is.text, "\n## %s\n\n| failure |", theme.Says)
	for _, b := range is.backends {
		fmt.Fprintf(&is.text, " %s |", b.Name)
	}
	fmt.Fprintf(&is.text, "\n|---|%s\n", strings.Repeat("---|", len(is.backends)))
	for _, name := range theme.Names {
		fmt.Fprintf(&is.text, "| %s |", name)
		for i := range is.backends {
			fmt.Fprintf(&is.text, " %s |", is.mark(is.exempts[i][name]))
		}
		is.text.WriteString("\n")
	}
}

// mark is what stands in a cell: the number of a reason, if there is one.
func (is *told) mark(reason string) string {
	if reason == "" {
		return "✓"
	}
	if !slices.Contains(is.reasons, reason) {
		is.reasons = append(is.reasons, reason)
	}
	return fmt.Sprint(slices.Index(is.reasons, reason) + 1)
}

// TestToldTestIsNotThere: each column names a test that runs, and that declares what is told of it.
func TestToldTestIsNotThere(t *testing.T) {
	for _, b := range conformance.Backends() {
		files, err := filepath.Glob(filepath.Join(root, b.Folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, name := range files {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(file)
		}
		for _, want := range []string{"func " + b.Test + "(t *testing.T) {", "conformance.", "locktest.Run(t, "} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: %s has no %s", b.Name, b.Folder, want)
			}
		}
	}
}
