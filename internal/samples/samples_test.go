package samples

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every Go block of a document compiles.
func TestGoBlocksCompile(t *testing.T) {
	var all []block
	for _, file := range files(t, ".md") {
		all = append(all, blocksOf(t, file, "go")...)
	}
	wantCompiled(t, all, 10)
}

// Every Go sample of a comment compiles.
func TestSamplesInCommentsCompile(t *testing.T) {
	var all []block
	for _, file := range files(t, ".go") {
		for _, b := range indentedIn(file, read(t, file)) {
			if b.isGo() {
				all = append(all, b)
			}
		}
	}
	wantCompiled(t, all, 30)
}

// Every call within a sentence of the guide compiles, where its receiver says what it is.
func TestCallsInSentencesCompile(t *testing.T) {
	scene := inScene(t)
	var all []block
	for _, file := range files(t, ".md") {
		if strings.HasPrefix(file, "docs/guide/") || file == "README.md" {
			all = append(all, inlineIn(file, read(t, file), scene)...)
		}
	}
	wantCompiled(t, all, 5)
}

// Calls are found in sentences, and nowhere else.
func TestCallsInSentences(t *testing.T) {
	text := "Call `locks.Check(ctx)`, not `Check(ctx)`, `of.Others()` or `locks.List(…)`.\n" +
		"```go\nx := `lease.Context()`\n```\nOr `lease.Context()`.\n"
	var got []string
	for _, b := range inlineIn("x.md", text, inScene(t)) {
		got = append(got, fmt.Sprintf("%d %s", b.line, b.text))
	}
	if want := []string{"1 locks.Check(ctx)", "5 lease.Context()"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// wantCompiled checks blocks, of which there must be some.
func wantCompiled(t *testing.T, all []block, least int) {
	t.Helper()
	if len(all) < least {
		t.Errorf("%d blocks: not all there are", len(all))
	}
	c := sharedCompiler(t)
	for _, b := range all {
		t.Run(fmt.Sprintf("%s:%d", b.file, b.line), func(t *testing.T) {
			if err := c.check(b); err != nil {
				t.Error(err)
			}
		})
	}
}

// Blocks that do not compile are found, wherever they are wrong, and those that do are not.
func TestBlocksThatDoNotCompile(t *testing.T) {
	text, err := os.ReadFile("testdata/broken.md")
	if err != nil {
		t.Fatal(err)
	}
	c := sharedCompiler(t)
	for _, b := range blocksIn("broken.md", string(text), "go") {
		_, want, _ := strings.Cut(strings.SplitN(b.text, "\n", 2)[0], "// want: ")
		got := fmt.Sprint(c.check(b))
		if want == "fine" {
			want = "<nil>"
		}
		if want == "" || !strings.Contains(got, want) {
			t.Errorf("line %d: %s; want %q", b.line, got, want)
		}
	}
}

// Of what is indented in comments, Go is told from all else, broken Go too.
func TestGoInComments(t *testing.T) {
	text, err := os.ReadFile("testdata/comments.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range indentedIn("comments.txt", string(text)) {
		got = append(got, fmt.Sprintf("%d %d %v", b.line, strings.Count(b.text, "\n"), b.isGo()))
	}
	want := []string{"3 4 true", "10 1 true", "14 1 true", "18 2 false", "23 2 false", "28 1 false"}
	if !slices.Equal(got, want) {
		t.Errorf("line, lines, Go: %q; want %q", got, want)
	}
}
