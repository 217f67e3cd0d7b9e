package housetest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the prefix of our own imports.
const modulePath = "github.com/bedrock-go/bedrock"

// tree is the source of a module.
type tree struct {
	files     fs.FS
	goMod     string
	explained []string             // modules docs/dependencies.md speaks of
	packages  map[string][]*source // by folder
	nested    map[string][]*source // the same of modules inside, such as bench
	layers    layerMap             // the house's, unless a fixture brings its own
	words     vocabulary
	wide      []string // lines too long to read, in whatever is written by hand
}

// source is one Go file.
type source struct {
	path  string
	text  []byte
	set   *token.FileSet
	file  *ast.File
	test  bool // in a _test.go file
	lines int
}

// load reads every package of the module, and those of nested modules.
func load(t *testing.T, fsys fs.FS) tree {
	t.Helper()
	goMod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := fs.ReadFile(fsys, "docs/dependencies.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	tr := tree{
		files:     fsys,
		goMod:     string(goMod),
		explained: explainedIn(string(reasons)),
		packages:  map[string][]*source{},
		nested:    map[string][]*source{},
		layers:    layersIn(fsys),
		words:     vocabularyIn(t, fsys),
		wide:      wideLines(t, fsys),
	}
	if err := readPackages(fsys, ".", tr.packages, tr.nested); err != nil {
		t.Fatal(err)
	}
	return tr
}

// readPackages reads a module's packages, and apart from them those of modules inside it.
func readPackages(fsys fs.FS, root string, packages, nested map[string][]*source) error {
	return fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return readSource(fsys, name, packages)
		case name == root:
			return nil
		case isHidden(d.Name()):
			return fs.SkipDir
		case exists(fsys, path.Join(name, "go.mod")):
			return cmp.Or(readPackages(fsys, name, nested, nested), fs.SkipDir)
		}
		return nil
	})
}

// isHidden reports whether a folder holds no source of any module.
func isHidden(folder string) bool {
	return strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_") || folder == "testdata"
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// readSource parses one file into its package.
func readSource(fsys fs.FS, name string, packages map[string][]*source) error {
	if path.Ext(name) != ".go" {
		return nil
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	packages[dir] = append(packages[dir], &source{
		path: name, text: text, set: set, file: file,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")),
	})
	return nil
}

// dirs are the folders with Go files, in order.
func (tr tree) dirs() []string { return slices.Sorted(maps.Keys(tr.packages)) }

// each visits every file in order.
func (tr tree) each(visit func(dir string, s *source)) { eachOf(tr.packages, visit) }

// eachEverywhere visits those of nested modules, too.
func (tr tree) eachEverywhere(visit func(dir string, s *source)) {
	tr.each(visit)
	eachOf(tr.nested, visit)
}

func eachOf(packages map[string][]*source, visit func(dir string, s *source)) {
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		for _, s := range packages[dir] {
			visit(dir, s)
		}
	}
}

// imports are the paths a file imports.
func (s *source) imports() []string {
	paths := make([]string, len(s.file.Imports))
	for i, spec := range s.file.Imports {
		paths[i], _ = strconv.Unquote(spec.Path.Value)
	}
	return paths
}

// generated reports whether a program wrote the file.
func (s *source) generated() bool { return ast.IsGenerated(s.file) }

// at names a place for a complaint.
func (s *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.set.Position(n.Pos()).Line)
}
