package housetest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// patternsMatch refuses what the map of layers says of packages that are not
// there: they were moved or removed, and their permissions would wait for
// somebody who takes the name for something else.
func patternsMatch(tr tree) []string {
	dirs := tr.dirs()
	var complaints []string
	for _, l := range tr.layers {
		for _, pattern := range append([]string{l.packages}, l.own...) {
			if !slices.ContainsFunc(dirs, func(dir string) bool { return matches(pattern, dir) }) {
				complaints = append(complaints, fmt.Sprintf("layers: %s: %s matches no package", l.packages, pattern))
			}
		}
	}
	return complaints
}

// layersIn reads the map of a fixture from its file "layers", a line for each
// layer: the packages, then what they may import, of this module and of others.
// Without such a file the house's own map counts.
func layersIn(fsys fs.FS) layerMap {
	text, err := fs.ReadFile(fsys, "layers")
	if err != nil {
		return layers()
	}
	var m layerMap
	for line := range strings.Lines(string(text)) {
		if patterns := strings.Fields(line); len(patterns) > 0 {
			m = append(m, layerIn(patterns))
		}
	}
	return m
}

func layerIn(patterns []string) layer {
	l := layer{packages: patterns[0]}
	for _, pattern := range patterns[1:] {
		if pattern != "..." && isForeign(pattern) {
			l.foreign = append(l.foreign, pattern)
		} else {
			l.own = append(l.own, pattern)
		}
	}
	return l
}
