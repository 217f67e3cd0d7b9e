//go:build !unix

package child

// others are those in a group besides its first: nobody, where there are no groups.
type others struct{ group int }

func (o *others) areLeft() bool { return false }
