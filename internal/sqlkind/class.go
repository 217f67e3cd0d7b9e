package sqlkind

// Class is what an error means for the call that failed.
type Class int

const (
	// Refused means that the database, or its driver, does not take the call as it is.
	Refused Class = iota
	// Duplicate means that the key is taken.
	Duplicate
	// Deadlocked means that the transaction was rolled back so that others can go on. It
	// may be repeated.
	Deadlocked
	// Busy means that something was held by others for too long.
	Busy
	// Broken means that the connection could not be made, or ended, or that the database
	// takes no writes for a while.
	Broken
	// TooLarge means that the database takes nothing of this size.
	TooLarge
)

// Collided reports whether the call has met another one, and may be repeated as a whole
// transaction.
func (c Class) Collided() bool { return c == Deadlocked || c == Busy }
