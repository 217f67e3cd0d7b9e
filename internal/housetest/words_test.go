package housetest

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vocabulary is what docs/vocabulary.md says of names that are one bare word.
type vocabulary struct {
	banned map[string]bool
	plain  map[string]bool
	places []string // packages where words live
}

// manyPackages is in how many packages one word names a function before it has
// become a dialect.
const manyPackages = 4

// noBannedWords refuses functions called by a word that says nothing by itself.
func noBannedWords(tr tree) []string {
	var complaints []string
	tr.eachBareWord(func(_ string, s *source, name *ast.Ident) {
		if tr.words.banned[name.Name] {
			complaints = append(complaints, s.at(name)+": "+name.Name+" says nothing by itself; see docs/vocabulary.md")
		}
	})
	return complaints
}

// noDialect refuses words that name a function in many packages, unless
// docs/vocabulary.md says that they mean the same in each.
func noDialect(tr tree) []string {
	where := map[string][]string{}
	tr.eachBareWord(func(dir string, _ *source, name *ast.Ident) {
		w := name.Name
		if !tr.words.plain[w] && !tr.words.banned[w] && !slices.Contains(where[w], dir) {
			where[w] = append(where[w], dir)
		}
	})
	var complaints []string
	for _, w := range slices.Sorted(maps.Keys(where)) {
		if len(where[w]) >= manyPackages {
			complaints = append(complaints,
				fmt.Sprintf("%s: a function in %d packages: %v", w, len(where[w]), where[w]))
		}
	}
	return complaints
}

// eachBareWord visits the names of unexported functions and methods that are
// one word, outside tests and what programs wrote, in nested modules as well.
func (tr tree) eachBareWord(visit func(dir string, s *source, name *ast.Ident)) {
	tr.eachEverywhere(func(dir string, s *source) {
		if s.test || s.generated() {
			return
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == strings.ToLower(f.Name.Name) {
				visit(dir, s, f.Name)
			}
		}
	})
}

// vocabularyIn reads the words between backquotes: the banned ones from the first
// column of the table below "say nothing", the plain ones from the list below
// "Plain words".
func vocabularyIn(t *testing.T, fsys fs.FS) vocabulary {
	t.Helper()
	text, err := fs.ReadFile(fsys, "docs/vocabulary.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	v := vocabulary{banned: map[string]bool{}, plain: map[string]bool{}}
	section := ""
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "## "):
			section = line
		case strings.HasPrefix(line, "| ") && strings.Contains(section, "Words of the house"):
			v.places = append(v.places, placesIn(line)...)
		case strings.HasPrefix(line, "| `") && strings.Contains(section, "say nothing"):
			addTo(v.banned, strings.Split(line, "|")[1])
		case strings.HasPrefix(line, "* ") && strings.Contains(section, "Plain words"):
			addTo(v.plain, line)
		}
	}
	return v
}

// placesIn are the packages in the last column of a row.
func placesIn(row string) []string {
	cells := strings.Split(strings.TrimRight(row, "|\n "), "|")
	var places []string
	for _, match := range quotedPlace.FindAllStringSubmatch(cells[len(cells)-1], -1) {
		places = append(places, match[1])
	}
	return places
}

// wordsLiveSomewhere wants the packages that docs/vocabulary.md names to be there.
func wordsLiveSomewhere(tr tree) []string {
	var complaints []string
	for _, dir := range tr.words.places {
		if tr.packages[dir] == nil {
			complaints = append(complaints, "docs/vocabulary.md: a word lives in "+dir+", which is not there")
		}
	}
	return complaints
}

var quotedPlace = regexp.MustCompile("`([a-z0-9/]+)`")

var quotedWord = regexp.MustCompile("`([a-z]+)`")

// addTo enters the words of a line.
func addTo(words map[string]bool, line string) {
	for _, match := range quotedWord.FindAllStringSubmatch(line, -1) {
		words[match[1]] = true
	}
}
