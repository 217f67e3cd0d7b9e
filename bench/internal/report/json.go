package report

import (
	"encoding/json"
	"io"
)

// JSON writes rows as an array of objects.
func JSON(w io.Writer, rows []*Row) error {
	if rows == nil {
		rows = []*Row{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}
