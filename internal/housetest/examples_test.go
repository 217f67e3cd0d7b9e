package housetest

import (
	"go/ast"
	"slices"
	"strings"
)

// withoutExample are public packages that no example would explain, and why.
func withoutExample() map[string]string {
	return map[string]string{
		"cmd/...":                "programs: nobody imports them",
		"interop":                "tests of two programs side by side",
		"interop/curator":        "tests of two programs side by side",
		"interop/etcd":           "tests of two programs side by side",
		"interop/shedlock":       "tests of two programs side by side",
		"proto/...":              "a program wrote it",
		"lock/driver":            "for writers of backends: memlock shows one, docs/writing-a-backend.md explains it",
		"txn/driver":             "for writers of stores: memstore shows one",
		"txn/participant/header": "names of headers: the handlers beside it are what participants use",
		"lock/guard/header":      "names of headers: the packages that read and write them have examples",
		"redisconn":              "its packages make what it describes of a client: each of them has an example",
		"txn/plan":               "for writers of modes: saga, tcc and msg show it",
		"txn/sqlstore":           "what its dialects share: each of them has an example",
		"coord/coordtest":        "runs from its own tests; nothing in it is for users",
	}
}

// packagesHaveExamples wants a godoc example in every package that users import:
// it is where they begin to read.
func packagesHaveExamples(tr tree) []string {
	var complaints []string
	for _, dir := range tr.dirs() {
		has := slices.ContainsFunc(tr.packages[dir], hasExample)
		switch {
		case !has && isPublic(dir, tr.packages[dir]) && !isExcepted(dir):
			complaints = append(complaints, dir+": public, and has no example")
		case has && withoutExample()[dir] != "":
			complaints = append(complaints, dir+": has an example, and needs no exception")
		}
	}
	return complaints
}

// isExcepted reports whether there is a reason why a package has no example.
func isExcepted(dir string) bool {
	for pattern := range withoutExample() {
		if matches(pattern, dir) {
			return true
		}
	}
	return false
}

// isPublic reports whether users can import a package.
func isPublic(dir string, files []*source) bool {
	inside := "/" + dir + "/"
	return !strings.Contains(inside, "/internal/") && slices.ContainsFunc(files, func(s *source) bool {
		return !s.test && s.file.Name.Name != "main"
	})
}

// hasExample reports whether a file's tests show how the package is used.
func hasExample(s *source) bool {
	return s.test && slices.ContainsFunc(s.file.Decls, func(decl ast.Decl) bool {
		f, ok := decl.(*ast.FuncDecl)
		return ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example")
	})
}
