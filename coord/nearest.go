package coord

import "iter"

// nearest is the name that a mistyped one was probably meant to be: one that few
// keystrokes make of it; empty if there is none.
func nearest(typed string, names iter.Seq[string]) string {
	best, least := "", max(2, len(typed)/3)+1
	for name := range names {
		d := keystrokes(typed, name)
		if d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	return best
}

// keystrokes counts what has to be inserted, deleted or replaced (Levenshtein).
func keystrokes(a, b string) int {
	row := make([]int, len(b)+1) // of the table, for the beginning of a so far
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			same := before
			if a[i] != b[j] {
				same++
			}
			before = row[j+1]
			row[j+1] = min(same, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
