package housetest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	goMod     string
	explained []string             // modules docs/dependencies.md speaks of
	packages  map[string][]*source // by folder
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

// load reads every package of the module, except those of nested modules.
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
		goMod:     string(goMod),
		explained: explainedIn(string(reasons)),
		packages:  map[string][]*source{},
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return descend(fsys, name)
		}
		return tr.read(fsys, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// descend leaves out what is not source of this module.
func descend(fsys fs.FS, dir string) error {
	base := path.Base(dir)
	hidden := dir != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
	if hidden || base == "testdata" || dir != "." && exists(fsys, path.Join(dir, "go.mod")) {
		return fs.SkipDir
	}
	return nil
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// read parses one file into its package.
func (tr *tree) read(fsys fs.FS, name string) error {
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
	tr.packages[dir] = append(tr.packages[dir], &source{
		path: name, text: text, set: set, file: file,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")),
	})
	return nil
}

// dirs are the folders with Go files, in order.
func (tr tree) dirs() []string {
	dirs := make([]string, 0, len(tr.packages))
	for dir := range tr.packages {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

// each visits every file in order.
func (tr tree) each(visit func(dir string, s *source)) {
	for _, dir := range tr.dirs() {
		for _, s := range tr.packages[dir] {
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

// generated tells whether a program wrote the file.
func (s *source) generated() bool { return ast.IsGenerated(s.file) }

// at names a place for a complaint.
func (s *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.set.Position(n.Pos()).Line)
}
