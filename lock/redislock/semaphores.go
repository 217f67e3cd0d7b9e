package redislock

// Semaphores is one of Redisson's semaphores, as which permits are kept.
type Semaphores uint8

const (
	// RPermitExpirableSemaphore has each permit that is taken with its end, Java's too: permits of a process that has
	// died come back by themselves, whoever had them.
	RPermitExpirableSemaphore Semaphores = iota
	// RSemaphore is a number, of the permits that are there. Permits of Bedrock are leases all the same, of which it
	// keeps a record beside the number: those of a process that has died come back with the next call of any client of
	// Bedrock for that name, be it a request, a renewal or a release, and not by a call of Java's. What a process in
	// Java had when it died is lost, as ever there.
	//
	// A request makes the number from its limit if there is none; that is what trySetPermits would do. A number that is
	// there stays as it is: whoever made it has set how many there are. A limit that differs from the one that Bedrock
	// was asked with last moves the number by the difference, for Java too; what Java has added, drained or not given
	// back stays so. Apart from that, clients of Bedrock never have more than their limit together.
	//
	// A number that Bedrock has made is forgotten a day after the last use by Bedrock, which is a grant, a renewal or a
	// release, also if Java has permits of it: where that matters let Java make it, by trySetPermits. Who looks sees
	// what is missing from the limit as permits of a holder without a name; a number that only Java has used shows
	// nobody, as nothing tells it from any other. Nor is such a number told from one of an RPermitExpirableSemaphore of
	// which nobody has permits, or from Java's latch: what cannot be told is not refused. By force only permits of
	// Bedrock are taken away.
	//
	// Where Java deletes the number, what Bedrock has stays: it is shown, counts when the next request makes the number
	// anew, and keeps locks of other kinds out, of clients with this option.
	RSemaphore
)
