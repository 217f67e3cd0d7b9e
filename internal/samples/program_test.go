package samples

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// parse makes a file of Go out of a block: the block itself if it is one, declarations
// behind a package clause, or statements in a function.
func (b block) parse(set *token.FileSet) (*ast.File, error) {
	const name = "sample.go"
	if file, err := parser.ParseFile(set, name, b.at("", b.text), parser.AllErrors); err == nil {
		return file, nil
	}
	if file, err := parser.ParseFile(set, name, b.at("package sample;", b.text), parser.AllErrors); err == nil {
		return file, nil
	}
	file, err := parser.ParseFile(set, name, b.at(b.function(), b.text, "\n"+b.ending()), parser.AllErrors)
	if problems, several := err.(scanner.ErrorList); several { //nolint:errorlint // as the parser returns it
		return nil, problems[0]
	}
	return file, err
}

// at joins texts, and says that the lines of the block are those of its document.
func (b block) at(before string, rest ...string) string {
	return fmt.Sprintf("%s\n//line %s:%d\n%s", before, b.file, b.line, strings.Join(rest, ""))
}

// function begins the function whose body statements are: one that fails, if they say
// what it returns.
func (b block) function() string {
	if strings.Contains(b.text, "return") {
		return "package sample; func _() error {"
	}
	return "package sample; func _() {"
}

func (b block) ending() string {
	if strings.Contains(b.text, "return") {
		return "return nil }"
	}
	return "}"
}

// named returns the names in a file before a dot that may be those of packages.
func named(file *ast.File) []string {
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := s.X.(*ast.Ident); ok && !slices.Contains(names, name.Name) {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}
