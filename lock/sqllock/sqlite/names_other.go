//go:build !linux

package sqlite

// otherName does not know here.
func otherName(string) string { return "" }
