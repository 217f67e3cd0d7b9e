package driver

// NonVoter is implemented by backends whose stores cannot be one of several that make up a lock: they refuse
// [Request.Above] and [Request.Age] always.
type NonVoter interface {
	// WhyNoVote says what keeps the store from it, as the end of a sentence about it; empty if nothing does.
	WhyNoVote() string
}
