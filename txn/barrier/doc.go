// Package barrier is the participant's side of transactions: it lets every call of
// a coordinator take effect once, and in the right order, although calls are
// repeated, overtake one another and come late.
package barrier
