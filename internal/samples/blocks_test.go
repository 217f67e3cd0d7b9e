package samples

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the module.
const root = "../.."

// block is a sample: what stands between two fences of a document, or is indented in a
// comment of a program.
type block struct {
	file     string // relative to root
	line     int    // of its first line
	language string
	text     string
}

// files lists the files whose names end in suffix.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || strings.HasPrefix(name, ".") && path != root) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, suffix) {
			list = append(list, strings.TrimPrefix(filepath.ToSlash(path), root+"/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// read returns the text of a file.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocksOf returns the fenced blocks of a document in one language.
func blocksOf(t *testing.T, file, language string) []block {
	t.Helper()
	return blocksIn(file, read(t, file), language)
}

func blocksIn(file, text, language string) []block {
	var list []block
	var open *block
	number := 0
	for line := range strings.Lines(text) {
		number++
		fence, fenced := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case !fenced && open != nil:
			open.text += line
		case fenced && open == nil:
			open = &block{file: file, line: number + 1, language: fence}
		case fenced:
			if open.language == language {
				list = append(list, *open)
			}
			open = nil
		}
	}
	return list
}

// inlineCall is a call of a method within a sentence, such as `lease.Context()`. One that
// leaves something out, with three dots, is no code.
var inlineCall = regexp.MustCompile("`([a-z]\\w*)\\.[A-Z]\\w*\\([^`…]*\\)`")

// inlineIn returns the calls within the sentences of a document, of what the scene has.
func inlineIn(file, text string, inScene func(name string) bool) []block {
	var list []block
	fenced, number := false, 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, found := range inlineCall.FindAllStringSubmatch(line, -1) {
			if inScene(found[1]) {
				list = append(list, block{file: file, line: number, text: strings.Trim(found[0], "`")})
			}
		}
	}
	return list
}
