package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is a deliberate fault and the test that must catch it.
type Mutant struct {
	Name string // says what is wrong
	File string // from the root of the module
	Old  string // occurs in it exactly once
	New  string
	Also []Edit // what else it takes
	Pkg  string // of the test, from the root of the module
	Test string // as for -run, without the anchors
	// Hunt are flags of a test that looks for faults it was not written for.
	Hunt []string
	// Torture is a command line of bedrock that must catch it, instead of a test.
	Torture []string
}

// Edit is one change of one file.
type Edit struct {
	File, Old, New string
}

// edits lists all changes.
func (m *Mutant) edits() []Edit {
	return append([]Edit{{m.File, m.Old, m.New}}, m.Also...)
}

// hunted reports whether no test was written for the fault.
func (m *Mutant) hunted() bool { return len(m.Hunt) > 0 || len(m.Torture) > 0 }

// by says what must catch it.
func (m *Mutant) by() string {
	switch {
	case len(m.Torture) > 0:
		return "bedrock " + strings.Join(m.Torture, " ")
	case len(m.Hunt) > 0:
		return m.Pkg
	default:
		return m.Test
	}
}

// mutate returns the texts of the files that the fault is in, by their paths.
func (m *Mutant) mutate(root string) (map[string]string, error) {
	texts := make(map[string]string)
	for _, e := range m.edits() {
		if err := e.apply(root, texts); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// apply makes one change in what has become of the files so far.
func (e Edit) apply(root string, texts map[string]string) error {
	path := filepath.Join(root, e.File)
	text, ok := texts[path]
	if !ok {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if n := strings.Count(text, e.Old); n != 1 {
		return fmt.Errorf("%s: the text to replace occurs %d times, want once:\n%s", e.File, n, e.Old)
	}
	texts[path] = strings.Replace(text, e.Old, e.New, 1)
	return nil
}

// Misfits lists what no longer fits the code, or is named twice. It is quick: it
// only looks for the texts to be replaced.
func Misfits(ctx context.Context, all []Mutant) ([]string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	var complaints []string
	names := make(map[string]bool)
	for _, m := range all {
		if names[m.Name] {
			complaints = append(complaints, m.Name+": two are called so")
		}
		names[m.Name] = true
		if _, err := m.mutate(root); err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: %v", m.Name, err))
		}
	}
	return complaints, nil
}

// Untold lists the rows that a table in Markdown lacks. Its rows may have more columns.
func Untold(table string, all []Mutant) []string {
	var rows []string
	for _, m := range all {
		rows = append(rows, "| "+m.Name+" | `"+m.by()+"` |")
	}
	for row := range strings.Lines(table) {
		told := func(r string) bool { return strings.HasPrefix(strings.TrimSpace(row), r) }
		rows = slices.DeleteFunc(rows, told)
	}
	return rows
}
