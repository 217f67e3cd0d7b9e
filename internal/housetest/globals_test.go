package housetest

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// noGlobals forbids package-level variables that can change. It permits what is
// a constant in all but name: interface assertions, sentinel errors, compiled
// patterns, embedded files and tables that nothing writes to. Test files and
// generated ones are free.
func noGlobals(tr tree) []string {
	var complaints []string
	for _, packages := range []map[string][]*source{tr.packages, tr.nested} {
		for _, dir := range slices.Sorted(maps.Keys(packages)) {
			complaints = append(complaints, globalsOf(packages[dir])...)
		}
	}
	return complaints
}

// globalsOf lists a package's offending variables.
func globalsOf(files []*source) []string {
	var complaints []string
	written := writtenNames(files)
	for _, s := range files {
		if !s.test && !s.generated() {
			complaints = append(complaints, mutableGlobals(s, written)...)
		}
	}
	return complaints
}

// mutableGlobals lists a file's offending variables.
func mutableGlobals(s *source, written map[string]bool) []string {
	var complaints []string
	for _, decl := range s.file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			spec := spec.(*ast.ValueSpec)
			if embedded(g, spec) {
				continue
			}
			for i, name := range spec.Names {
				if name.Name != "_" && (!constant(spec, i) || written[name.Name]) {
					complaints = append(complaints, s.at(name)+": variable "+name.Name+" at package level")
				}
			}
		}
	}
	return complaints
}

// embedded reports whether the variable holds an embedded file.
func embedded(g *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{g.Doc, spec.Doc} {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.HasPrefix(c.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

// constant reports whether the i-th variable of a declaration has a value that
// need not change.
func constant(spec *ast.ValueSpec, i int) bool {
	if i >= len(spec.Values) {
		return false
	}
	switch v := spec.Values[i].(type) {
	case *ast.SelectorExpr: // another package's sentinel under our name
		return strings.HasPrefix(v.Sel.Name, "Err")
	case *ast.CallExpr:
		return makesConstant(v)
	case *ast.CompositeLit:
		return isTable(v.Type)
	default:
		return false
	}
}

// makesConstant reports whether a call returns something that cannot be changed.
func makesConstant(call *ast.CallExpr) bool {
	return slices.ContainsFunc([][2]string{
		{"errors", "New"}, {"fmt", "Errorf"}, {"regexp", "MustCompile"}, {"strings", "NewReplacer"},
	}, func(f [2]string) bool { return isSelector(call.Fun, f[0], f[1]) })
}

// isTable reports whether a type is an array, a slice or a map.
func isTable(t ast.Expr) bool {
	switch t.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	default:
		return false
	}
}

// writtenNames are the names assigned to, wholly or in part, or whose address is
// taken anywhere in a package. Local variables of the same name count too:
// shadowing a table is confusing enough.
func writtenNames(files []*source) map[string]bool {
	names := map[string]bool{}
	for _, s := range files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			for _, target := range targets(n) {
				if name := rootName(target); name != "" {
					names[name] = true
				}
			}
			return true
		})
	}
	return names
}

// targets are the expressions a node writes to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if writesToFirst(n.Fun) {
			return n.Args[:1]
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	}
	return nil
}

// writesToFirst reports whether a function writes to its first argument.
func writesToFirst(f ast.Expr) bool {
	if id, ok := f.(*ast.Ident); ok {
		return slices.Contains([]string{"delete", "clear", "copy"}, id.Name)
	}
	return slices.ContainsFunc([][2]string{
		{"slices", "Sort"},
		{"slices", "SortFunc"},
		{"slices", "SortStableFunc"},
		{"slices", "Reverse"},
		{"maps", "Copy"},
		{"maps", "DeleteFunc"},
	}, func(w [2]string) bool { return isSelector(f, w[0], w[1]) })
}

// rootName is the variable at the bottom of an expression such as a.b[c].
func rootName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return rootName(e.X)
	case *ast.SelectorExpr:
		return rootName(e.X)
	case *ast.StarExpr:
		return rootName(e.X)
	case *ast.ParenExpr:
		return rootName(e.X)
	case *ast.SliceExpr:
		return rootName(e.X)
	default:
		return ""
	}
}
