// Package coord is the engine that drives distributed transactions. It runs inside
// an application, on any store of package txn/driver, and behind package server.
package coord
