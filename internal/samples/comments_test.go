package samples

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// indentedIn returns what is indented in the comments of a program.
func indentedIn(file, text string) []block {
	var list []block
	var open *block
	blank := "" // lines of the comment that the block may go on behind
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimLeft(line, "\t")
		code, indented := strings.CutPrefix(line, "//\t")
		switch {
		case indented && open == nil:
			list = append(list, block{file: file, line: number, text: code})
			open, blank = &list[len(list)-1], ""
		case indented:
			open.text += blank + code
			blank = ""
		case open != nil && line == "//\n":
			blank += "\n"
		default:
			open = nil
		}
	}
	return list
}

// isGo reports whether an indented block is Go, which nothing else says: it declares
// something, though it may not compile, or it does compile and calls something.
func (b block) isGo() bool {
	if regexp.MustCompile(`(?m)^\s*(func|for|if|type|var) |:= `).MatchString(b.text) {
		return true
	}
	file, err := b.parse(token.NewFileSet())
	if err != nil {
		return false
	}
	calls := false
	ast.Inspect(file, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		calls = calls || isCall
		return !calls
	})
	return calls
}
