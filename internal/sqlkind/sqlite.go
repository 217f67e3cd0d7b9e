package sqlkind

// Codes of SQLite's errors.
const (
	liteBusy       = 5
	liteLocked     = 6
	liteReadOnly   = 8
	liteIOErr      = 10
	liteFull       = 13
	liteCantOpen   = 14
	liteConstraint = 19
)

// OfSQLite returns the class of an error of SQLite, whose code may be an extended one.
func OfSQLite(code int) Class {
	switch code & 0xff {
	case liteBusy, liteLocked:
		return Busy
	case liteConstraint:
		return Duplicate
	case liteIOErr, liteFull, liteCantOpen, liteReadOnly:
		return Broken
	default:
		return Refused
	}
}
