//go:build !linux && !darwin

package sqlite

// isDiskFull reports nothing: what the system says must do.
func isDiskFull(string) bool { return false }

// whyShut says nothing, likewise.
func whyShut(string) string { return "" }
