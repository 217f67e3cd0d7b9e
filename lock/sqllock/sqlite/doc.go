// Package sqlite keeps locks in a file of SQLite, which all processes of one machine share, in whatever container they
// are, as long as they see the file. There is no server to run: [Open] is all.
//
// # What holds
//
// Leases end by the boot clock of the machine, which nobody sets and which goes on during suspend: a jump of the time
// of day does nothing. After a boot all leases are over, since all who had them are. A process that dies, however it
// dies, loses its locks at once, and not when its leases end: each has a file in the folder beside the database that
// the kernel unlocks by its death. One that was only stopped keeps them for as long as its leases say. Tokens rise
// whatever happens, also when the machine loses power; with [Options.Relaxed] not in that case.
//
// A file on NFS, SMB and other file systems of several machines is refused, where the system tells: SQLite's locks do
// not hold there. A file that another machine or another kernel uses already is refused by its boot id, as in sandboxes
// that have a kernel of their own; and so is every file on Linux where the boot id cannot be read.
//
// # How it works
//
// There is a row for each name, to be read by people with any tool: see the tables bedrock_locks and
// bedrock_locks_holders. A request is one immediate transaction; those of a process that come meanwhile share the next
// one. SQLite's own waiting lets processes starve, so there is none: processes that write stand in line for two files
// beside the database, NAME-next and NAME-now, which the kernel lets one after the other lock. Who finds the file taken
// all the same, by another program or where files cannot be locked, tries again after a random part of a millisecond.
// A lock that is held is refused by reading, which waits for nobody.
//
// Who waits is woken by a file beside the database, NAME-wake, which the kernel watches: that is on Linux, elsewhere
// who waits looks again and again. Beside it are the files of SQLite, NAME-wal and NAME-shm, and the folder
// NAME-clients, or NAME-clients-TABLE for another table than the usual one. Remove all of them together, when no
// process has the file open. They belong to the owner and the group of the file, with its permissions, also if root
// has made them.
//
// When the file is locked by another program, requests wait for [Options.BusyTimeout] and are unavailable then. So they
// are once when the file was removed; the next one finds a new file. What may only be read is a refusal. With a disk
// that is full requests fail, and may be tried again.
//
// # Files
//
// sqlite.go opens a file, and closes it; file.go looks at where it is, session.go is a connection; writer.go makes
// transactions of steps, turnstile.go says whose turn it is to write, reader.go answers questions, sweep.go forgets
// names; watch.go and bell.go wake who waits, alive.go finds the dead, and unfreed.go what they still have;
// companion.go makes the files beside it, and cause.go says why something failed.
package sqlite
