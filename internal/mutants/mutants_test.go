package mutants

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bench is a lab in a module of one function and its test.
func bench(t *testing.T) *lab {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/sum\n",
		"sum.go": "package sum\n\nfunc Sum(a, b int) int { return a + b }\n",
		"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n" +
			"\t\tt.Fatal()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &lab{root: root, dir: t.TempDir()}
}

func sum(before, after, test string) Mutant {
	return Mutant{Name: after, File: "sum.go", Old: before, New: after, Pkg: ".", Test: test}
}

func TestVerdicts(t *testing.T) {
	l := bench(t)
	for i, c := range []struct {
		mutant Mutant
		want   string
	}{
		{sum("a + b", "a - b", "TestSum"), caught},
		{sum("a + b", "b + a", "TestSum"), missed},
		{sum("a + b", "a +", "TestSum"), broken},
		{sum("a * b", "a - b", "TestSum"), broken},
		{sum("int", "int64", "TestSum"), broken},
		{sum("a + b", "a - b", "TestNothing"), broken},
	} {
		if v := l.runMutant(t.Context(), &c.mutant, i); v.word != c.want {
			t.Errorf("%s by %s: %s, want %s:\n%s", c.mutant.New, c.mutant.Test, v.word, c.want, v.output)
		}
	}
}

// TestBrokenOff: a run that was stopped has caught nothing.
func TestBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := sum("a + b", "a - b", "TestSum")
	if v := bench(t).runMutant(ctx, &m, 0); v.word != missed {
		t.Errorf("%s:\n%s", v.word, v.output)
	}
}

func TestHealthy(t *testing.T) {
	l := bench(t)
	chosen := []Mutant{sum("a + b", "a - b", "TestSum")}
	if err := l.healthy(t.Context(), chosen, 2); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(l.root, "sum.go"),
		[]byte("package sum\n\nfunc Sum(a, b int) int { return 0 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l.healthy(t.Context(), chosen, 2) == nil {
		t.Error("a test that fails anyway is taken for healthy")
	}
}

func TestAnyOf(t *testing.T) {
	if got, want := anyOf([]string{"TestA/x", "TestB/y/z"}), "^(TestA|TestB)$/^(x|y)$/^(z)$"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMisfits(t *testing.T) {
	fits := Mutant{Name: "a", File: "internal/mutants/doc.go", Old: "package mutants", New: "package other"}
	absent := Mutant{Name: "b", File: "internal/mutants/doc.go", Old: "no such text", New: ""}
	for _, c := range []struct {
		all  []Mutant
		want int
	}{{[]Mutant{fits}, 0}, {[]Mutant{fits, absent}, 1}, {[]Mutant{fits, fits}, 1}} {
		if misfits, err := Misfits(t.Context(), c.all); err != nil || len(misfits) != c.want {
			t.Errorf("%q, %v; want %d", misfits, err, c.want)
		}
	}
}

func TestUntold(t *testing.T) {
	all := []Mutant{{Name: "a", Test: "TestA"}, {Name: "b", Test: "TestB"}}
	want := []string{"| b | `TestB` |"}
	if diff := cmp.Diff(want, Untold("| mutant |\n| a | `TestA` |\n| b | `TestA` |\n", all)); diff != "" {
		t.Error(diff)
	}
}
