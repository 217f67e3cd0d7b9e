// Package election lets processes agree on one of them that leads, and tells the others which one that is.
//
// An [Election] is a mutex of its name: whoever has that leads. So it is seen by all who look at locks, such as
// bedrock lock show, and on Redis by Java, where RLock of the same name takes part in it. On ZooKeeper it is Curator's
// LeaderLatch for clients with the profile CuratorLatch of package zklock.
//
//	scheduler := election.New(locks, "scheduler", nil)
//	err := scheduler.Lead(ctx, func(ctx context.Context, t *election.Term) error { // waits until it is the leader
//		return ship(ctx, t.Token()) // ctx ends when it is not any more
//	})
//
// [Election.Lead] campaigns again when leadership was lost, for as long as its context lasts; [Election.Campaign] is
// for one [Term] at a time. [Election.Observe] tells every leader there is, and [Election.Leader] the present one:
//
//	for leader, err := range scheduler.Observe(ctx) {
//		log.Println(leader.Owner, err)
//	}
//
// # What a term promises
//
// A term is a lease, see package lock: renewed in the background, and when that fails its context ends with cause
// [lock.ErrLost] before anybody else can be the leader. That protects work which heeds its context. It cannot protect
// what is paused between its last look and its write: for that every term has a token, higher than those of all
// terms before it, which the resource can compare.
//
// Each campaign that is won is a term of its own, with an owner and a token that no other has, also when one goroutine
// of a process follows another: nothing is passed on within the process. An exception is a campaign in the context of
// a term of the same election, which enters that once more; leadership ends when both have resigned.
//
// # What an observer sees
//
// Leaders are told apart by owner and token. Those of Bedrock have an owner for each term, so no two terms are taken
// for one. A Java thread has the same owner each time, and a token only with RFencedLock: if it resigns and leads again
// between two looks, that is not seen.
//
// An observer sees states, not history: of leaders that follow each other within moments, or while the consumer is
// busy, it may see the last one only. Where the store tells of releases, it listens, so a leader that resigns is seen
// at once; one that has died when its time is up; whatever nobody tells within 5 s. It costs a subscription and a
// request every 5 s, or one or two in the leader's TTL if that is shorter, but no more than 10 in a second; while there
// is no leader one every second; and a handful at each change. Where the store does not tell it is a request every
// second. In what a store counts as waiting for the lock, observers may be among them.
package election
