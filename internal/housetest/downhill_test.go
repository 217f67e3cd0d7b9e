package housetest

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// contract is an interface that a walk names: who imports its package calls, and whoever has
// its methods, with what goes in and out, stands behind it.
type contract struct {
	dir     string
	methods []string
}

// walksGoDownhill wants each package of a walk to be imported by one that the walk has come
// through, or to stand behind an interface that the walk has named, and that such a one
// imports. Who was called returns: a walk may come back to where it has been, and no higher.
func walksGoDownhill(tr tree) []string {
	var complaints []string
	for _, w := range tr.walks() {
		var way []string // who waits for whom
		var named []contract
		for _, match := range quoted.FindAllStringSubmatch(w.text, -1) {
			if !isPlace(match[1]) {
				named = append(named, tr.contractsOf(match[1])...)
				continue
			}
			to := tr.packageAt(w.resolve(tr, match[1]))
			if to == "" { // which is another rule's complaint
				continue
			}
			if stays, ok := tr.staysOf(way, to, named); ok {
				way = append(way[:stays], to)
			} else {
				complaints = append(complaints, fmt.Sprintf("%s: %s: nothing leads down to it from %s",
					w.title, match[1], strings.Join(way, ", ")))
			}
		}
	}
	return complaints
}

// staysOf returns how much of a way stays when it goes on to a package, if it can.
func (tr tree) staysOf(way []string, to string, named []contract) (stays int, ok bool) {
	for n := len(way); n > 0; n-- {
		from := way[n-1]
		below := tr.importedBy(from)
		leads := below[to] || slices.ContainsFunc(named, func(c contract) bool {
			return (below[c.dir] || from == c.dir) && tr.hasMethods(to, c.methods)
		})
		switch {
		case from == to:
			return n - 1, true
		case leads:
			return n, true
		}
	}
	return 0, len(way) == 0 // it begins here
}

// importedBy are the packages of this module that one imports, and that those import.
func (tr tree) importedBy(dir string) map[string]bool {
	found := map[string]bool{}
	for open := []string{dir}; len(open) > 0; open = open[1:] {
		for _, s := range tr.packages[open[0]] {
			for _, imported := range s.imports() {
				own, ok := strings.CutPrefix(imported, modulePath+"/")
				if ok && !s.test && !found[own] {
					found[own] = true
					open = append(open, own)
				}
			}
		}
	}
	return found
}

// contractsOf finds the interface that a word such as driver.Backend or driver.Backend.Acquire
// names.
func (tr tree) contractsOf(word string) []contract {
	var found []contract
	tr.each(func(dir string, s *source) {
		name, ok := strings.CutPrefix(word, s.file.Name.Name+".")
		if !ok || s.test {
			return
		}
		name, _, _ = strings.Cut(name, ".")
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if ok && spec.Name.Name == name && len(methodsOf(spec)) > 0 && !embeds(spec) {
				found = append(found, contract{dir, signatures(methodsOf(spec))})
			}
			return true
		})
	})
	return found
}

// hasMethods reports whether one type of a package has all of these methods.
func (tr tree) hasMethods(dir string, methods []string) bool {
	has := map[string][]string{}
	for _, s := range tr.packages[dir] {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && !s.test {
				has[receiver(f)] = append(has[receiver(f)], signature(f.Name.Name, f.Type))
			}
		}
	}
	for _, own := range has {
		if !slices.ContainsFunc(methods, func(m string) bool { return !slices.Contains(own, m) }) {
			return true
		}
	}
	return false
}

// embeds reports whether an interface asks for others, too. It is no contract then, for who has the
// methods that are its own may lack those.
func embeds(spec *ast.TypeSpec) bool {
	return slices.ContainsFunc(spec.Type.(*ast.InterfaceType).Methods.List, func(f *ast.Field) bool {
		return len(f.Names) == 0
	})
}

func signatures(methods map[string]*ast.FuncType) []string {
	var texts []string
	for name, f := range methods {
		texts = append(texts, signature(name, f))
	}
	return texts
}

// signature is a method as its types tell it, whatever their values are called.
func signature(name string, f *ast.FuncType) string {
	text := name + "("
	for _, list := range []*ast.FieldList{f.Params, f.Results} {
		if list != nil {
			for _, field := range list.List {
				text += strings.Repeat(typeText(field.Type)+",", max(1, len(field.Names)))
			}
		}
		text += ")"
	}
	return text
}

// typeText writes a type without the package it comes from, whose name is another at home.
func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.FuncType:
		return signature("func", e)
	case *ast.ParenExpr:
		return typeText(e.X)
	case *ast.Ellipsis:
		return "..." + typeText(e.Elt)
	case *ast.ArrayType:
		if e.Len != nil {
			return "[" + types.ExprString(e.Len) + "]" + typeText(e.Elt)
		}
		return "[]" + typeText(e.Elt)
	}
	text := qualifier.ReplaceAllString(types.ExprString(e), "")
	return strings.NewReplacer("interface{}", "any", "uint8", "byte").Replace(text)
}

var qualifier = regexp.MustCompile(`\b[a-z]\w*\.`)
