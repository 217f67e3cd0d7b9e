package housetest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The longest line, in columns, and how many of them a tab takes.
const (
	maxColumns = 120
	tabColumns = 4
)

// linesFit wants lines that two windows side by side can show.
func linesFit(tr tree) []string { return tr.wide }

// wideLines finds the lines that are too long in code, scripts and protocols. It
// looks into nested modules, too: who reads those has no wider screen.
func wideLines(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var wide []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".sh", ".proto", ".lua", ".sql"}, path.Ext(name)):
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		wide = append(wide, tooWide(name, string(text))...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return wide
}

var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// tooWide lists a file's long lines.
func tooWide(name, text string) []string {
	if generatedLine.MatchString(text) {
		return nil
	}
	var wide []string
	number := 0
	for line := range strings.Lines(text) {
		number++
		if n := columns(strings.TrimRight(line, "\n")); n > maxColumns {
			wide = append(wide, fmt.Sprintf("%s:%d: %d columns, at most %d", name, number, n, maxColumns))
		}
	}
	return wide
}

// columns is how wide a line is on a screen.
func columns(line string) int {
	return utf8.RuneCountInString(line) + strings.Count(line, "\t")*(tabColumns-1)
}
