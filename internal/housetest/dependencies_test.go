package housetest

import (
	"slices"
	"strings"
)

// dependenciesExplained wants every library imported named in
// docs/dependencies.md, where its reason stands.
func dependenciesExplained(tr tree) []string {
	var complaints []string
	tr.each(func(_ string, s *source) {
		for _, imported := range s.imports() {
			if isForeign(imported) && !slices.ContainsFunc(tr.explained, within(imported)) {
				complaints = append(complaints, s.path+": imports "+imported+": not in docs/dependencies.md")
			}
		}
	})
	return complaints
}

// isForeign reports whether an import is neither ours nor the standard library's.
func isForeign(imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	return strings.Contains(host, ".") && !strings.HasPrefix(imported+"/", modulePath+"/")
}

// explainedIn finds the modules at the beginning of a table's rows.
func explainedIn(text string) []string {
	var modules []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			module, _, _ := strings.Cut(rest, "`")
			modules = append(modules, module)
		}
	}
	return modules
}
