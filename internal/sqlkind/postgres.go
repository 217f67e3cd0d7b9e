package sqlkind

// pgReadOnly says that a standby, or an account, only reads.
const pgReadOnly = "25006"

// OfPostgres returns the class of a code of PostgreSQL, whose first two characters are
// the class that PostgreSQL itself puts it into.
func OfPostgres(code string) Class {
	const uniqueViolation, serializationFailure, deadlock, lockNotAvailable = "23505", "40001", "40P01", "55P03"
	const silent = "25P03" // for too long, in a transaction
	switch code {
	case uniqueViolation:
		return Duplicate
	case serializationFailure, deadlock:
		return Deadlocked
	case lockNotAvailable:
		return Busy
	case silent, pgReadOnly: // it may be another server in a moment
		return Broken
	}
	const connection, resources, intervention = "08", "53", "57"
	switch code[:min(2, len(code))] {
	case connection, resources, intervention:
		return Broken
	default:
		return Refused
	}
}

// ReadOnlyInPostgres reports whether a code of PostgreSQL says that nothing is written, by a standby or for an account.
func ReadOnlyInPostgres(code string) bool { return code == pgReadOnly }

// LostByPooler reports whether a code of PostgreSQL says that the name of a prepared statement is another's, or
// nobody's: a pooler lends connections that others have prepared theirs on.
func LostByPooler(code string) bool { return code == "42P05" || code == "26000" }

// NoTableInPostgres reports whether a code of PostgreSQL says that a table is not there.
func NoTableInPostgres(code string) bool { return code == "42P01" }

// DeniedByPostgres reports whether a code of PostgreSQL says that an account may not do something.
func DeniedByPostgres(code string) bool { return code == "42501" }
