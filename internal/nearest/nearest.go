// Package nearest finds what somebody may have meant.
package nearest

// To returns the name that is the least typing away from what was typed, or nothing when
// that is more than a slip or two.
func To(typed string, names []string) string {
	best, least := "", 1+max(1, len(typed)/3)
	for _, name := range names {
		if d := distance([]rune(typed), []rune(name)); d < least && d < len(typed) {
			best, least = name, d
		}
	}
	return best
}

// Hint is To for the middle of a sentence: it names the one that may be meant, or is empty.
func Hint(typed string, names []string) string {
	if name := To(typed, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}

// distance counts the letters to insert, to delete or to exchange.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
