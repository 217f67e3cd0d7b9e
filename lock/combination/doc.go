// Package combination makes one lock of several independent stores in a fixed order, as the dials of a combination
// lock: whoever wants it takes it at one after the other, from left to right, and gives it back at the first
// one last.
//
// Who finds another one at a node gives up at once. So whoever has the first node goes on alone, and a lock costs
// as many round trips as there are nodes, however many want it. If the first node fails, the next one decides: a
// holder who was on its way may meet somebody there who did not see the first, and yields. Only who wins every node
// that is left has the lock.
//
//	client, err := combination.New(nodes, nil) // the same ones, in the same order, everywhere
//
// A node that does not answer within [Options.NodeTimeout] is left out by the whole client, and looked at again after
// [Options.Retry]. The lock is there as long as any node is, where a quorum needs more than half of them; for that it
// depends on all clients seeing the same nodes fail. docs/guarantees.md compares the two. Nodes that can be in no
// quorum are refused here, too.
package combination
