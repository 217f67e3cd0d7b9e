package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/internal/apiwire"
)

// format is the value of -o.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
)

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value.
func (*format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	switch format(text) {
	case formatTable, formatJSON:
		*f = format(text)
		return nil
	}
	return errors.New("there are table and json")
}

// asJSON is a message of the API, in the JSON that the API has for it.
func asJSON(m proto.Message) json.RawMessage { return apiwire.AppendJSON(nil, m) }

// writeJSON prints one value, indented.
func writeJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// writeLine prints one value as one line of JSON.
func writeLine(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// writeTable prints rows in columns. The first row is the heading. Whatever somebody has put
// into a cell stays in that cell.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i := range row {
			cells[i] = printableText(row[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// oneLine makes a text fit into a table, whatever somebody has put into it.
func oneLine(text string) string {
	const most = 120
	line := []rune(printableText(text))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}

// printableText takes out of a text what could rewrite the terminal, or forge a line.
func printableText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
