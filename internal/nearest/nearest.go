// Package nearest finds what somebody may have meant.
package nearest

import "strings"

// To returns the name that is the least typing away from what was typed, or the one that is
// short for it, or nothing when both are guesses. Capital letters are no difference.
func To(typed string, names []string) string {
	small := strings.ToLower(typed)
	best, least := "", 1+max(1, len(typed)/3)
	for _, name := range names {
		if d := distance([]rune(small), []rune(strings.ToLower(name))); d < least && d < len(typed) {
			best, least = name, d
		}
	}
	if best != "" {
		return best
	}
	for _, name := range names {
		if isShortFor(name, small) {
			return name
		}
	}
	return ""
}

// isShortFor reports whether a name is a word with letters left out, as msg is of message.
func isShortFor(name, word string) bool {
	if len(name) < 3 || !strings.HasPrefix(word, name[:1]) {
		return false
	}
	for i := range len(name) {
		at := strings.IndexByte(word, name[i])
		if at < 0 {
			return false
		}
		word = word[at+1:]
	}
	return true
}

// Hint is To for the middle of a sentence: it names the one that may be meant, or is empty.
func Hint(typed string, names []string) string {
	if name := To(typed, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}

// UnknownField says of a field that there is none of its name, which one may be meant, and
// which there are.
func UnknownField(name string, known []string) string {
	return "unknown field" + Hint(name, known) + "; want " + strings.Join(known, ", ")
}

// distance counts the letters to insert, to delete or to exchange, with another one or
// with their neighbours.
func distance(a, b []rune) int {
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := last
		last, row = row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			switch {
			case a[i] == b[j]:
				row[j+1] = last[j]
			case i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j]:
				row[j+1] = 1 + min(last[j], row[j], last[j+1], before[j-1])
			default:
				row[j+1] = 1 + min(last[j], row[j], last[j+1])
			}
		}
	}
	return row[len(b)]
}
