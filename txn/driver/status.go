package driver

// Status is how far a transaction has come. The words are stored and shown, and
// never change.
type Status string

const (
	// Open means branches may still join; only the deadline acts by itself.
	Open Status = "open"
	// Running means going forward; not decided.
	Running Status = "running"
	// Committing means decided; what remains is to tell the branches.
	Committing Status = "committing"
	// RollingBack means decided; what remains is to undo the branches.
	RollingBack Status = "rolling-back"
	// Committed is final.
	Committed Status = "committed"
	// RolledBack is final.
	RolledBack Status = "rolled-back"
	// InDoubt is final: somebody gave up before the outcome was known.
	InDoubt Status = "in-doubt"

	// Kept is no transaction's: such a record is there for its content, and found by its
	// ID alone. It has no due time, and is neither listed nor counted.
	Kept Status = "kept"
)

// Statuses lists all that a transaction can have.
func Statuses() []Status {
	return []Status{Open, Running, Committing, RollingBack, Committed, RolledBack, InDoubt}
}

// Final reports whether nothing will change any more.
func (s Status) Final() bool { return s == Committed || s == RolledBack || s == InDoubt }

// Decided reports whether commit or roll back has been chosen.
func (s Status) Decided() bool { return s != Open && s != Running }
