// Package sqlite keeps transactions in a file: the store of a coordinator that
// is embedded in a program, and needs nothing beside it.
//
//	store, err := sqlite.Open(ctx, "bedrock.db", nil)
//
// What was acknowledged survives a crash of the program, of the machine, and a
// loss of power. A file belongs to one store, and what an earlier one had under way
// when its process died is taken up as soon as the file is opened again.
//
// Several stores, such as those of several processes of one machine, may have a file
// open if all are told so by [Options.Shared]; they write in turn, take the machine's
// clock for theirs, and wait for each other's leases. What one reads another may have
// written a moment before that is on the disk. A file on a network drive is not for
// sharing, since the locks there are not to be relied on.
package sqlite
