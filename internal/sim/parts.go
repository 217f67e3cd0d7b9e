package sim

// Some keeps those of a plan's parts that are not left out. The number counts the
// parts of all kinds.
func Some[T any](parts []T, with func(int) bool, number *int) (kept []T) {
	for _, p := range parts {
		if with(*number) {
			kept = append(kept, p)
		}
		*number++
	}
	return kept
}
