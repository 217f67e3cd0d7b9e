package samples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// modulePath is the prefix of our own packages.
const modulePath = "github.com/bedrock-go/bedrock"

// sceneFile is what samples take for granted.
const sceneFile = "testdata/scene.go"

// compiler checks the types of samples.
type compiler struct {
	set      *token.FileSet
	importer types.Importer
	scene    []byte
	packages map[string]string // import paths, by name
	folders  map[string]string // the names of our packages, by import path
}

// theCompiler is one for all tests: the Go command takes a second for the list of packages.
var theCompiler = sync.OnceValues(newCompiler)

// sharedCompiler returns the one that all tests have.
func sharedCompiler(t *testing.T) *compiler {
	t.Helper()
	c, err := theCompiler()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newCompiler makes one that knows our packages, the standard library, and what the
// scene imports.
func newCompiler() (*compiler, error) {
	scene, err := os.ReadFile(sceneFile)
	if err != nil {
		return nil, err
	}
	c := &compiler{
		set: token.NewFileSet(), scene: scene, packages: make(map[string]string), folders: make(map[string]string),
	}
	c.packages["driver"] = modulePath + "/txn/driver" // of two, the one that samples use
	for _, database := range []string{"sqlite", "mysql", "postgres"} {
		c.packages[database] = modulePath + "/txn/sqlstore/" + database
	}
	exported, err := c.exported()
	if err != nil {
		return nil, err
	}
	c.importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) {
		if exported[path] == "" {
			return nil, fmt.Errorf("no package %s among those that samples may use", path)
		}
		return os.Open(exported[path])
	})
	return c, nil
}

// exported returns where the compiler has put what packages export, and notes their names.
func (c *compiler) exported() (map[string]string, error) {
	args := []string{"list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Export}}", modulePath + "/..."}
	list := exec.CommandContext(context.Background(), "go", append(args, libraries()...)...)
	var failure bytes.Buffer
	list.Stderr = &failure
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &failure)
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 3 && f[2] != "" {
			files[f[0]] = f[2]
			c.nameOf(f[0], f[1])
		}
	}
	return files, nil
}

// libraries are what samples may use that is neither ours nor used by us: of the standard
// library.
func libraries() []string { return []string{"testing", "net/http", "log", "database/sql"} }

// nameOf notes a package by its name: of several one of ours, or else the shortest. What
// is internal, or drivers use, no sample needs.
func (c *compiler) nameOf(importPath, name string) {
	if strings.Contains(importPath, "internal") || path.Base(importPath) == "driver" {
		return
	}
	if folder, own := strings.CutPrefix(importPath, modulePath+"/"); own {
		c.folders[folder] = name
	}
	other, taken := c.packages[name]
	ours, othersOurs := strings.HasPrefix(importPath, modulePath), strings.HasPrefix(other, modulePath)
	if !taken || ours && !othersOurs || ours == othersOurs && len(importPath) < len(other) {
		c.packages[name] = importPath
	}
}

// check returns what is wrong with a block, in the compiler's words.
func (c *compiler) check(b block) error {
	file, err := b.parse(c.set)
	if err != nil {
		return err
	}
	if file.Name.Name == "main" || len(file.Imports) > 0 {
		return c.typesOf(file)
	}
	scene, err := parser.ParseFile(c.set, "scene.go", c.scene, 0)
	if err != nil {
		return err
	}
	imports, err := c.importsFor(b.file, file, scene)
	if err != nil {
		return err
	}
	file.Decls = append(imports, file.Decls...)
	return c.typesOf(file, scene)
}

// inScene returns what reports whether the scene declares a name.
func inScene(t *testing.T) func(name string) bool {
	t.Helper()
	scene, err := parser.ParseFile(token.NewFileSet(), sceneFile, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) bool { return scene.Scope.Lookup(name) != nil }
}

// pathOf returns the package that a name stands for in a file: that of the folder it is in, or of one above it, before
// others.
func (c *compiler) pathOf(name, in string) string {
	for folder := path.Dir(in); folder != "."; folder = path.Dir(folder) {
		if c.folders[folder] == name {
			return modulePath + "/" + folder
		}
	}
	return c.packages[name]
}

// importsFor declares the imports of a sample that shows none.
func (c *compiler) importsFor(in string, file, scene *ast.File) ([]ast.Decl, error) {
	var lines []string
	for _, name := range named(file) {
		if path := c.pathOf(name, in); path != "" && scene.Scope.Lookup(name) == nil {
			lines = append(lines, fmt.Sprintf("import %s %q", name, path))
		}
	}
	slices.Sort(lines)
	made, err := parser.ParseFile(c.set, "imports.go", "package sample\n"+strings.Join(lines, "\n"), 0)
	if err != nil {
		return nil, err
	}
	return made.Decls, nil
}

// typesOf checks files that are a package. What is declared and not used is fine in a
// sample, and a package that a variable hides is not imported.
func (c *compiler) typesOf(files ...*ast.File) error {
	problems := make(map[string]bool)
	config := types.Config{Importer: c.importer, Error: func(err error) {
		var problem types.Error
		if !errors.As(err, &problem) || strings.HasPrefix(problem.Msg, "declared and not used") ||
			strings.HasSuffix(problem.Msg, "imported and not used") {
			return
		}
		problems[err.Error()] = true
	}}
	_, _ = config.Check("sample", c.set, files, nil) // every problem was told
	return errors.Join(errorsOf(slices.Sorted(maps.Keys(problems)))...)
}

func errorsOf(texts []string) []error {
	var all []error
	for _, text := range texts {
		all = append(all, errors.New(text))
	}
	return all
}
