// Package session keeps locks in the session of a connection to a database: the database has them as long as the
// connection lives, and everybody else finds them free when it has ended.
//
// A client has one connection for all its locks. The database knows no time limit, so what is not renewed in time is
// given back by a book of tenures; and no token, so those are in rows of a table, which whoever has the lock writes
// over the connection that has it.
package session
