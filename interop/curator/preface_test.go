package curator_test

// preface stands before the tables of the matrix.
const preface = `# Tested beside the real Curator

<!-- Written by the run, and compared with it: go test ./interop/curator -update -->

Go's side is Bedrock with the profile Curator, of elections CuratorLatch; Java's is Apache Curator itself, from Maven,
on the same ensemble of ZooKeeper. A number is how often something was done; nothing stands here that has not passed.

* *refused*: one has it, the other one tries, and has it when it is free again.
* *both read*: at the same time, and nobody writes meanwhile; *goes on to read*: a writer, beside readers of the other
  side.
* *is killed*: by kill -9, while it has the lock and the other side waits, which has it when the session is over.
* *–*: not tried, or there is no such thing.
`
