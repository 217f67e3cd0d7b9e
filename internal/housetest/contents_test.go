package housetest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// oneCommentPerPackage wants the package explained, in one place.
func oneCommentPerPackage(tr tree) []string {
	var complaints []string
	for _, dir := range tr.dirs() {
		var where []string
		production := false
		for _, s := range tr.packages[dir] {
			production = production || !s.test
			if !s.test && s.file.Doc != nil {
				where = append(where, path.Base(s.path))
			}
		}
		if production && len(where) != 1 {
			complaints = append(complaints, fmt.Sprintf("%s: want one package comment, found %v", dir, where))
		}
	}
	return complaints
}

// noVagueNames forbids packages named after nothing.
func noVagueNames(tr tree) []string {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc", "types", "impl", "manager"}
	var complaints []string
	for _, dir := range tr.dirs() {
		if slices.Contains(vague, path.Base(dir)) {
			complaints = append(complaints, dir+": the name says nothing")
		}
	}
	return complaints
}

// noInit forbids code that runs because a package is imported.
func noInit(tr tree) []string {
	var complaints []string
	tr.eachEverywhere(func(_ string, s *source) {
		if s.generated() {
			return
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				complaints = append(complaints, s.at(f)+": init function")
			}
		}
	})
	return complaints
}

// noSleepInTests forbids waiting by the clock where an event can be waited for.
// Packages tested in virtual time may sleep, which costs and hides nothing there.
func noSleepInTests(tr tree) []string {
	var complaints []string
	tr.each(func(dir string, s *source) {
		if !s.test || virtualTime(tr.packages[dir]) {
			return
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if isSelector(n, "time", "Sleep") {
				complaints = append(complaints, s.at(n)+": time.Sleep in a test; wait for the event")
			}
			return true
		})
	})
	return complaints
}

// virtualTime reports whether a folder's tests run inside testing/synctest. They
// do not when any of them talks to the world outside, where time is real.
func virtualTime(files []*source) bool {
	virtual := false
	for _, s := range files {
		for _, imported := range s.imports() {
			switch imported {
			case "testing/synctest":
				virtual = true
			case "net", "os/exec", modulePath + "/internal/testenv", modulePath + "/internal/chaos":
				return false
			}
		}
	}
	return virtual
}

// isSelector reports whether a node is pkg.name.
func isSelector(n ast.Node, pkg, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// The longest file and function outside tests.
const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

// shortFiles wants one idea per file.
func shortFiles(tr tree) []string {
	var complaints []string
	tr.each(func(_ string, s *source) {
		if s.lines > maxFileLines && !s.generated() {
			complaints = append(complaints, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxFileLines))
		}
	})
	return complaints
}

// shortFunctions wants functions that fit on a screen. Tests may be long lists.
func shortFunctions(tr tree) []string {
	var complaints []string
	tr.each(func(_ string, s *source) {
		if s.test || s.generated() {
			return
		}
		for _, decl := range s.file.Decls {
			if n := functionLines(s, decl); n > maxFunctionLines {
				complaints = append(complaints,
					fmt.Sprintf("%s: %d lines, at most %d", s.at(decl), n, maxFunctionLines))
			}
		}
	})
	return complaints
}

func functionLines(s *source, decl ast.Decl) int {
	f, ok := decl.(*ast.FuncDecl)
	if !ok {
		return 0
	}
	return s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
}

// plainGoMod wants a go.mod that does the same for users as for us.
func plainGoMod(tr tree) []string {
	var complaints []string
	version := ""
	for line := range strings.Lines(tr.goMod) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "replace", "toolchain":
			complaints = append(complaints, "go.mod: has a "+words[0]+" line")
		case "go":
			version = words[1]
		}
	}
	// The older of the two supported Go releases.
	if !strings.HasPrefix(version, "1.26") {
		complaints = append(complaints, "go.mod: go "+version+", want 1.26")
	}
	return complaints
}
