package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// body is a payload or a result for people.
type body struct {
	Text string
	Size string
	Cut  bool
}

// What of a body is shown: so many bytes, and structure only so deep, since every
// level is indented further.
const (
	mostBody  = 32 << 10
	mostDepth = 32
)

// bodyOf shows JSON with its structure, text as it is, and the rest in hexadecimal.
func bodyOf(content []byte) body {
	b := body{Size: grouped(len(content)) + " bytes"}
	shown := content
	if b.Cut = len(shown) > mostBody; b.Cut {
		shown = shown[:mostBody]
	}
	var pretty bytes.Buffer
	switch {
	case !b.Cut && shallow(shown) && json.Indent(&pretty, shown, "", "  ") == nil:
		b.Text = pretty.String()
	case utf8.Valid(content):
		b.Text = strings.ToValidUTF8(string(shown), "")
	default:
		b.Text = fmt.Sprintf("% x", shown)
	}
	return b
}

// shallow reports whether nothing is nested too deep. Brackets inside of strings
// count as well, which only makes a rare text look plainer.
func shallow(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '{', '[':
			if depth++; depth > mostDepth {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}
