package housetest

import (
	"fmt"
	"slices"
)

// permissionsAreUsed refuses what a layer may import and none of its packages does: the map
// would say of the house what is not so, and the next one to import it would not be asked why.
func permissionsAreUsed(tr tree) []string {
	var complaints []string
	for _, l := range tr.layers {
		used := tr.importsOf(l)
		for _, pattern := range l.own {
			if !slices.ContainsFunc(used, func(imported string) bool { return matches(ourPath(pattern), imported) }) {
				complaints = append(complaints, fmt.Sprintf("layers: %s: imports nothing of %s", l.packages, pattern))
			}
		}
		for _, module := range l.foreign {
			if !slices.ContainsFunc(used, func(imported string) bool { return within(imported)(module) }) {
				complaints = append(complaints, fmt.Sprintf("layers: %s: imports nothing of %s", l.packages, module))
			}
		}
	}
	return complaints
}

// ourPath is how a pattern of this module's packages is imported.
func ourPath(pattern string) string { return modulePath + "/" + pattern }

// importsOf are what the packages of a layer import beyond it; what their tests import needs
// no permission.
func (tr tree) importsOf(l layer) []string {
	var used []string
	tr.each(func(dir string, s *source) {
		if its, _ := tr.layers.layerOf(dir); its.packages == l.packages && !s.test {
			used = append(used, s.imports()...)
		}
	})
	return slices.DeleteFunc(used, func(imported string) bool { return matches(ourPath(l.packages), imported) })
}
