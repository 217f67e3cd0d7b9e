package ledger

// headStart is how far behind the clock the tokens of a new name begin, in microseconds: its first holders get blocks
// of them, too.
const headStart = 1000

// FirstToken is what the tokens of a new name are above: the clock, and all those of names that are forgotten.
func FirstToken(wall int64, floor uint64) uint64 { return max(uint64(max(wall-headStart, 0)), floor) }

// reserveTokens gives out tokens, as many as are wanted unless they would run ahead of the clock, and at least one. The
// newest of them is not below the clock, so that a store which has forgotten what it gave out last, as a standby may
// that takes over, does not give it out once more.
func (s *State) reserveTokens(c *Clock, want int) (first uint64, n int) {
	newest := max(s.Token+1, uint64(max(c.Wall, 0)))
	n = int(min(uint64(want), newest-s.Token))
	s.Token = newest
	return newest - uint64(n) + 1, n
}

// voteTokens gives out the very next tokens: other stores give the same.
func (s *State) voteTokens(c *Clock, want int) (first uint64, n int) {
	n = int(max(1, min(int64(want), c.Wall-int64(s.Token))))
	first = s.Token + 1
	s.Token += uint64(n)
	return first, n
}
