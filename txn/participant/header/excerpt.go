package header

import "github.com/bedrock-go/bedrock/internal/printable"

// MaxExcerpt bounds what is kept of a reply or an error, in bytes.
const MaxExcerpt = 256

// Excerpt is the beginning of a text in one printable line.
func Excerpt(text string) string { return printable.Line(text, MaxExcerpt) }
