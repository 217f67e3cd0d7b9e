// Package quorum makes one lock of several independent stores: whoever has the votes of a majority has it. It is
// the algorithm known as Redlock, for stores of any kind that can grant locks alone.
//
// All stores are asked at the same time. A lock is granted for its TTL less what asking has taken, and renewed and
// released everywhere. It outlives the failure of a minority of the stores: with five, of any two. A store that was
// started less than a TTL ago may have forgotten whom it had given its vote, and has none until then.
//
//	client, err := quorum.New(nodes, nil) // servers that know nothing of each other, not one with replicas
//
// Nodes have to fail independently. One Redis or table that is there twice is refused. Two tables or schemas of one
// database server are not, nor two files of one disk: each has a vote, and both are lost together.
//
// [New] refuses a node that can give no vote ([driver.NonVoter]): etcd and ZooKeeper, whose servers agree by
// themselves, the profiles of databases for locks that others have, too, and several stores that are one already.
// Behind a server, as client.Client.Backend, they are found out by the first request.
//
// What it promises, and what not, stands in docs/guarantees.md, beside lock/combination.
package quorum
