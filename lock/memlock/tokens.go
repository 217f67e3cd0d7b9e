package memlock

import "time"

// headStart is how far behind the clock a store's tokens begin: the first holders
// of a new store get blocks of them, too. No process starts again within that time.
const headStart = time.Millisecond

// firstToken is where a store begins: at the clock, in microseconds, so that the
// tokens of a process that has started again are higher than those before.
func firstToken(now time.Time) uint64 { return uint64(now.Add(-headStart).UnixMicro()) }

// reserve gives out tokens, as many as are wanted unless they would run ahead of
// the clock, and at least one. s.mu is held.
func (s *Store) reserve(want int) (first uint64, n int) {
	ready := s.clock().UnixMicro() - int64(s.token)
	n = int(max(1, min(int64(want), ready)))
	first = s.token + 1
	s.token += uint64(n)
	return first, n
}
