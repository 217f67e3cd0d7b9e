// Package sqltest is what the tests of the SQL stores have in common, beyond the
// conformance of every store: crashes, schemas, batches, and how fast they are.
package sqltest
