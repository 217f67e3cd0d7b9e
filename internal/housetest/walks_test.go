package housetest

import (
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A walk is a section of ARCHITECTURE.md that follows a call through the packages.
type walk struct {
	title string
	home  string // the folder of files that are named without one
	text  string // on one line
}

var (
	quoted     = regexp.MustCompile("`([^`]+)`")
	homeOfWalk = regexp.MustCompile("[Aa]ll in `([^`]+?)/?` unless another folder is named")
	nameInFile = regexp.MustCompile("`([A-Za-z.]+)` (?:\\(|in )`([^` ]+\\.go)`") // what stands in which file
)

// walksExist wants what the walks name to be there: files, folders, and names of Go, each in
// the file that is named beside it, or else in a package of the walk.
func walksExist(tr tree) []string {
	var complaints []string
	for _, w := range tr.walks() {
		for _, match := range quoted.FindAllStringSubmatch(w.text, -1) {
			if !w.exists(tr, match[1]) {
				complaints = append(complaints, w.title+": "+match[1]+" is not there")
			}
		}
		for _, match := range nameInFile.FindAllStringSubmatch(w.text, -1) {
			if name, file := match[1], w.resolve(tr, match[2]); file != "" && !tr.declaresIn(file, name) {
				complaints = append(complaints, w.title+": "+name+" is not in "+file)
			}
		}
	}
	return complaints
}

// walks are the sections of ARCHITECTURE.md that are some.
func (tr tree) walks() []walk {
	text, err := fs.ReadFile(tr.files, "ARCHITECTURE.md")
	if err != nil {
		return nil
	}
	var walks []walk
	for section := range strings.SplitSeq("\n"+string(text), "\n## ") {
		if title, body, _ := strings.Cut(section, "\n"); strings.HasPrefix(title, "The walk of ") {
			w := walk{title: title, text: strings.Join(strings.Fields(body), " ")}
			if home := homeOfWalk.FindStringSubmatch(w.text); home != nil {
				w.home = home[1]
				w.text = strings.Replace(w.text, home[0], "", 1) // nobody has been there yet
			}
			walks = append(walks, w)
		}
	}
	return walks
}

// exists reports whether a file, a folder or a name of Go is there.
func (w *walk) exists(tr tree, word string) bool {
	if isPlace(word) {
		return w.resolve(tr, word) != ""
	}
	for dir, files := range tr.packages {
		for _, s := range files {
			outside, _ := strings.CutPrefix(word, s.file.Name.Name+".")
			if s.declares(outside) && (outside != word || slices.Contains(w.packages(tr), dir)) {
				return true
			}
		}
	}
	return false
}

// isPlace reports whether a word names a file or a folder.
func isPlace(word string) bool {
	return strings.Contains(word, "/") || slices.Contains([]string{".go", ".lua"}, path.Ext(word))
}

// resolve finds a file or folder, and the first one where several are meant; in the folder
// of the walk, or else from the root.
func (w *walk) resolve(tr tree, word string) string {
	word = strings.TrimSuffix(word, "/")
	for _, pattern := range []string{path.Join(w.home, word), word} {
		if found, err := fs.Glob(tr.files, pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// packages are those that the walk comes through, in order.
func (w *walk) packages(tr tree) []string {
	var dirs []string
	for _, match := range quoted.FindAllStringSubmatch(w.text, -1) {
		if dir := tr.packageAt(w.resolve(tr, match[1])); dir != "" && isPlace(match[1]) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// packageAt is the package that a file or folder belongs to.
func (tr tree) packageAt(place string) string {
	for ; place != "" && place != "."; place = path.Dir(place) {
		if tr.packages[place] != nil {
			return place
		}
	}
	return ""
}

// declaresIn reports whether a name stands in a file.
func (tr tree) declaresIn(file, name string) bool {
	return slices.ContainsFunc(tr.packages[path.Dir(file)], func(s *source) bool {
		return s.path == file && s.declares(strings.TrimPrefix(name, s.file.Name.Name+"."))
	})
}

// declares reports whether a file has a name at package level: a method as Type.Method or alone.
func (s *source) declares(name string) bool {
	return slices.ContainsFunc(s.file.Decls, func(decl ast.Decl) bool {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			return d.Name.Name == name || receiver(d)+"."+d.Name.Name == name
		case *ast.GenDecl:
			return slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool { return specDeclares(spec, name) })
		default:
			return false
		}
	})
}

// receiver is the type that a function is a method of.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	return rootName(t)
}

func specDeclares(spec ast.Spec, name string) bool {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		owner, method, _ := strings.Cut(name, ".")
		return spec.Name.Name == owner && (method == "" || methodsOf(spec)[method] != nil)
	case *ast.ValueSpec:
		return slices.ContainsFunc(spec.Names, func(id *ast.Ident) bool { return id.Name == name })
	default:
		return false
	}
}

// methodsOf are the methods that an interface asks for.
func methodsOf(spec *ast.TypeSpec) map[string]*ast.FuncType {
	methods := map[string]*ast.FuncType{}
	if asked, ok := spec.Type.(*ast.InterfaceType); ok {
		for _, field := range asked.Methods.List {
			for _, id := range field.Names {
				methods[id.Name] = field.Type.(*ast.FuncType)
			}
		}
	}
	return methods
}
