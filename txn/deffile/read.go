package deffile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// mostBytes and mostMarks bound a file before it is parsed, because every mark
	// can become a node of the tree, and a node takes some hundred bytes. In JSON the nodes
	// are counted as they are made.
	mostBytes = 4 << 20
	mostMarks = 300_000
	// deepest bounds how far values are put into one another.
	deepest = 100
)

// read makes a tree of the file, or keeps the mistakes and returns nil.
func (p *parser) read(data []byte) *yaml.Node {
	valid := json.Valid(data)
	isJSON := valid || strings.HasSuffix(p.file, ".json")
	if len(data) > mostBytes || !isJSON && countMarks(data) > mostMarks {
		p.addMistake(0, "", "too large: at most %d bytes and about %d values", mostBytes, mostMarks)
		return nil
	}
	if !utf8.Valid(data) {
		p.addMistake(0, "", "is not UTF-8")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var root *yaml.Node
	if isJSON {
		root = p.readJSON(data, valid || json.Valid(data))
	} else {
		root = p.readYAML(data)
	}
	if root == nil || !p.sound(root, 0) {
		return nil
	}
	return root
}

func countMarks(data []byte) (marks int) {
	for _, c := range data {
		switch c {
		case ',', ':', '-', '[', '{', '\n', '?':
			marks++
		}
	}
	return marks
}

func (p *parser) readYAML(data []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		p.addMistake(0, "", "is empty")
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		p.addMistake(more.Line, "", "a second document; want one transaction per file")
		return nil
	case !errors.Is(err, io.EOF):
		p.syntax(err)
		return nil
	}
	return document.Content[0]
}

// syntax keeps an error of the YAML reader, which has the line in its text.
func (p *parser) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.TrimPrefix(text, m[0])
	}
	p.addMistake(line, "", "%s", text)
}

// sound refuses what would have a meaning elsewhere in the file, or none.
func (p *parser) sound(n *yaml.Node, depth int) bool {
	switch {
	case depth > deepest:
		p.addMistake(n.Line, "", "values are put into one another more than %d times", deepest)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		p.addMistake(n.Line, "", "anchors and aliases are not supported")
		return false
	}
	for _, inner := range n.Content {
		if !p.sound(inner, depth+1) {
			return false
		}
	}
	return true
}
