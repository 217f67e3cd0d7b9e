package bedrocktest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGuideShowsSomethingElse: the programs of the guide are files of this package, as
// they stand, and so they compile and run.
func TestGuideShowsSomethingElse(t *testing.T) {
	page, err := os.ReadFile("../docs/guide/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1) {
		shown = append(shown, strings.Replace(string(block[1]), "package shop_test", "package bedrocktest_test", 1))
	}
	files, err := filepath.Glob("guide_*_test.go")
	if err != nil || len(files) != len(shown) {
		t.Fatalf("%d files %q for %d blocks, %v", len(files), files, len(shown), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(shown, string(text)) {
			t.Errorf("the guide does not show %s as it is", file)
		}
	}
}
