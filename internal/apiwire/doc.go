// Package apiwire translates between the words of packages txn and lock and the
// messages of the API. The server and the client share it, so that what one
// writes the other reads.
package apiwire
