package sqlkind

import "errors"

// Classify returns the class of an error that a database answered, for packages that
// may import no driver: it is recognised by what drivers' errors have in common. What
// happened on the way to the database is Refused here: only its driver knows it.
func (k Kind) Classify(err error) Class {
	switch k {
	case Postgres:
		if e, ok := errors.AsType[interface {
			error
			SQLState() string
		}](err); ok {
			return OfPostgres(e.SQLState())
		}
	case SQLite:
		if e, ok := errors.AsType[interface {
			error
			Code() int
		}](err); ok {
			return OfSQLite(e.Code())
		}
	case MySQL:
		if err != nil {
			return ofMySQLText(err.Error())
		}
	}
	return Refused
}
