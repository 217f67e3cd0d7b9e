package barrier

// origins pairs every operation that goes back with the one it takes back. An
// operation that is not here goes forward, or follows a decision.
var origins = map[string]string{
	"compensate": "action",  // saga
	"cancel":     "try",     // TCC
	"rollback":   "prepare", // two-phase commit, XA
	"undo":       "do",      // modes without words of their own
}

// Origin is the operation that op takes back; ok is false when it takes none back.
func Origin(op string) (origin string, ok bool) {
	origin, ok = origins[op]
	return origin, ok
}
