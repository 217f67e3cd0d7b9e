package redisconn

// Reply is what a server answered. It is passed by value, so that the usual
// answer, a number, costs no memory.
type Reply struct {
	Int  int64
	Str  string
	List List // of an array; nil where there is none
	Nil  bool
}

// List is an array, or the keys and values in turn of a map, as the client library has
// read it. An item is made a [Reply] when it is looked at: a copy of them all would be
// larger than what was read.
type List interface {
	Len() int
	At(i int) Reply
}

// Len returns how many items the reply has: none if it is no array.
func (r Reply) Len() int {
	if r.List == nil {
		return 0
	}
	return r.List.Len()
}

// At returns an item of a reply that has so many.
func (r Reply) At(i int) Reply { return r.List.At(i) }

// Replies is a list that is made of replies.
type Replies []Reply

// Len implements [List].
func (r Replies) Len() int { return len(r) }

// At implements [List].
func (r Replies) At(i int) Reply { return r[i] }
