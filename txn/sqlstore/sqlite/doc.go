// Package sqlite keeps transactions in a file: the store of a coordinator that
// is embedded in a program, and needs nothing beside it.
//
//	store, err := sqlite.Open(ctx, "bedrock.db", nil)
//
// What was acknowledged survives a crash of the program, of the machine, and a
// loss of power. Several processes of one machine may share a file; they write in
// turn, and take the machine's clock for theirs. One that only looks, such as
// bedrock tx, may see what another has written a moment before that is on the disk.
// A file on a network drive is not for sharing, since the locks there are not to be
// relied on.
package sqlite
