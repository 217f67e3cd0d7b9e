package outcome

import "strings"

// foldedError is one whose text has several lines, as those of joined errors and of pgx for all the addresses that it
// has tried.
type foldedError struct{ error }

// InOneLine returns err with a text of one line.
func InOneLine(err error) error {
	if strings.Contains(err.Error(), "\n") {
		return foldedError{err}
	}
	return err
}

// Error implements error.
func (e foldedError) Error() string {
	var b strings.Builder
	for line := range strings.Lines(e.error.Error()) {
		line = strings.TrimSpace(line)
		switch {
		case b.Len() == 0 || line == "":
		case strings.HasSuffix(b.String(), ":"):
			b.WriteString(" ")
		default:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Unwrap returns the error as it is.
func (e foldedError) Unwrap() error { return e.error }
