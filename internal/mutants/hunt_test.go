package mutants

import (
	"os"
	"path/filepath"
	"testing"
)

// hunters adds to the module tests that look for faults, and a program that does.
func hunters(t *testing.T, l *lab) {
	t.Helper()
	for name, text := range map[string]string{
		"hunt_test.go": "package sum\n\nimport (\n\t\"flag\"\n\t\"testing\"\n)\n\n" +
			"var _ = flag.Int(\"seed\", 0, \"the run\")\n\n" +
			"func TestHunt(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n" +
			"\t\tt.Error(\"seed 7: sums are right\")\n\t}\n}\n\n" +
			"func TestAlways(t *testing.T) { t.Error(\"seed 7: sums are right\") }\n\n" +
			"func TestElse(t *testing.T) { t.Error(\"no seed\") }\n",
		"cmd/bedrock/main.go": "package main\n\nimport (\n\t\"os\"\n\n\t\"example.com/sum\"\n)\n\n" +
			"func main() {\n\tif sum.Sum(2, 3) != 5 || os.Args[1] == \"always\" {\n\t\tos.Exit(1)\n\t}\n" +
			"\tif sum.Sum(5, 3) != 8 {\n\t\tos.Exit(2)\n\t}\n}\n",
	} {
		path := filepath.Join(l.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHuntVerdicts(t *testing.T) {
	l := bench(t)
	hunters(t, l)
	for i, c := range []struct {
		after, test string
		want, found string
	}{
		{"a - b", "TestHunt", caught, "seed 7: sums are right"},
		{"b + a", "TestHunt", missed, ""},
		{"a - b", "TestAlways", broken, "seed 7: sums are right"}, // as it does without the mutant
		{"a - b", "TestElse", broken, ""},
	} {
		m := sum("a + b", c.after, c.test)
		m.Hunt = []string{"-seed", "0"}
		v := l.runMutant(t.Context(), &m, i)
		if v.word != c.want || v.found != c.found {
			t.Errorf("%s by %s: %s, found %q, want %s:\n%s", c.after, c.test, v.word, v.found, c.want, v.output)
		}
	}
}

func TestTortureVerdicts(t *testing.T) {
	l := bench(t)
	hunters(t, l)
	for i, c := range []struct{ after, args, want string }{
		{"a - b", "torture", caught},
		{"b + a", "torture", missed},
		{"a +", "torture", broken},
		{"5 + 0*a*b", "torture", broken}, // it ends, but not as one that has found something
		{"a - b", "always", broken},      // as it does without the mutant
	} {
		m := sum("a + b", c.after, "")
		m.Torture = []string{c.args}
		if v := l.runMutant(t.Context(), &m, i); v.word != c.want {
			t.Errorf("%s: %s, want %s:\n%s", c.after, v.word, c.want, v.output)
		}
	}
}
