package housetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// rules are all rules, by the name of their fixture.
func rules() map[string]func(tree) []string {
	return map[string]func(tree) []string{
		"comments":     oneCommentPerPackage,
		"dependencies": dependenciesExplained,
		"dialect":      noDialect,
		"downhill":     walksGoDownhill,
		"examples":     packagesHaveExamples,
		"files":        shortFiles,
		"functions":    shortFunctions,
		"globals":      noGlobals,
		"gomod":        plainGoMod,
		"homes":        wordsStayHome,
		"init":         noInit,
		"layers":       importsFollowLayers,
		"lines":        linesFit,
		"names":        noVagueNames,
		"patterns":     patternsMatch,
		"permissions":  permissionsAreUsed,
		"places":       wordsLiveSomewhere,
		"sleep":        noSleepInTests,
		"walks":        walksExist,
		"words":        noBannedWords,
	}
}

func TestHouse(t *testing.T) {
	house := load(t, os.DirFS("../.."))
	if len(house.packages) < 3 {
		t.Fatalf("found %d packages: not the whole house", len(house.packages))
	}
	for name, rule := range rules() {
		t.Run(name, func(t *testing.T) {
			for _, complaint := range rule(house) {
				t.Error(complaint)
			}
		})
	}
}

// TestRulesCanFail gives each rule a tree that breaks it.
func TestRulesCanFail(t *testing.T) {
	for name, rule := range rules() {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			want, fsys := unpack(string(text))
			if diff := cmp.Diff(want, rule(load(t, fsys))); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}

// unpack reads a fixture in txtar form: the complaints expected, one per line,
// then files, each under a line "-- name --". A fixture without go.mod gets a
// good one, and the line FILL stands for 500 lines.
func unpack(text string) (want []string, fsys fstest.MapFS) {
	fsys = fstest.MapFS{"go.mod": {Data: []byte("module m\n\ngo 1.26.0\n")}}
	sections := strings.Split("\n"+text, "\n-- ")
	for _, section := range sections[1:] {
		name, body, _ := strings.Cut(section, " --\n")
		body = strings.ReplaceAll(body+"\n", "FILL\n", strings.Repeat("//\n", 500))
		fsys[name] = &fstest.MapFile{Data: []byte(body)}
	}
	return strings.Split(strings.TrimSpace(sections[0]), "\n"), fsys
}
