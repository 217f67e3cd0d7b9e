package interop

// What stands around the tables of the matrix.
const preface = `# Tested beside the real Redisson

<!-- Written by the run, and compared with it: go test ./interop -update -->

Go's side is Bedrock with the profile "redisson", Java's is Redisson itself, from Maven, on the same servers. A
number is how often something was done with each version; nothing stands here that has not passed. What is promised
beside Redisson is in [guarantees](guarantees.md#shared-with-other-libraries).

* *refused*: one has it, the other one tries, and has it when it is free again.
* *is killed*: by kill -9, a process that has twenty names of the kind. The other side waits for all of them, and
  has each when its time is over.
* *inspects*: whether it is held, for how long still, and by whom; of a fair lock the line, of a semaphore the
  permits, of a latch the count.
  Permits of an RSemaphore are nobody's: what Bedrock had comes back by the next call of another one, what Java had is
  lost (once each).
* *–*: not tried, or there is no such thing. Redisson's spin lock tells nobody of its release, so who waits in Go
  asks again by itself. A fair waiter of Redisson before 3.32 may not look again when a holder has died, whoever
  that was. Redisson 3.24 cannot be told how to publish in a cluster: it uses SPUBLISH where servers know it.
`
