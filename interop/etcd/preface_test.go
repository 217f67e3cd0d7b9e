package etcd_test

// preface stands before the tables of the matrix.
const preface = `# Tested beside etcdctl and etcd's own client

<!-- Written by the run, and compared with it: go test ./interop/etcd -update -->

Our side is Bedrock with the profile Compatible, and for elections Elections. Theirs are the programs etcdctl lock and
etcdctl elect, and a program that uses concurrency.Mutex, or concurrency.Election, of etcd's own client; each is a
process of its own, with a lease of three seconds; that of etcdctl elect is always a minute. A number is how often
something was done; nothing stands here that has not passed.

* *refused*: one has it, the other one tries, and has it when it is free again.
* *is killed*: by kill -9, while it has the lock and the other side waits, which has it when the lease is over.
* *–*: not tried, or there is no such thing: nobody re-enters, and etcdctl has no way to show who has a lock.
`
