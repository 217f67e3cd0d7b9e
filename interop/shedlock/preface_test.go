package shedlock_test

// preface stands before the tables of the matrix.
const preface = `# Tested beside the real ShedLock

<!-- Written by the run, and compared with it: go test ./interop/shedlock -update -->

Go's side is Bedrock with the profile ShedLock, Java's is ShedLock itself with its JdbcTemplateLockProvider, from
Maven, on the same table, which is made as ShedLock's documents have it. Java's time is the database's (*usingDbTime*),
or its own in UTC on a machine whose time zone is another (*time of the client*); Go's is always the database's. A
number is how often something was done; nothing stands here that has not passed.

* *waits, is woken*: ShedLock never waits, so the Java program of the test tries every 20 ms; Go tries every 100 ms at
  most.
* *refused*: one has it, the other one tries, and has it when it is free again.
* *is killed*: by kill -9, while it has the lock and the other side waits, which has it when the lease is over.
* *–*: not tried, or there is no such thing.
`
