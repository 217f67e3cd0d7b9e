package demo

import "time"

// A worker reads commands from its standard input and writes reports to its
// standard output, both as lines of JSON.

// What a worker can be told to do.
const (
	doCount   = "count"   // lock, read, write one more, unlock; again and again
	doTake    = "take"    // lock and read
	doWrite   = "write"   // write one more than was read
	doRelease = "release" // unlock
)

// command is an order to a worker.
type command struct {
	Do  string        `json:"do"`
	For time.Duration `json:"for,omitempty"` // of count
}

// What a worker reports.
const (
	eventTaken    = "taken"
	eventWritten  = "written"
	eventRefused  = "refused"
	eventCounted  = "counted"
	eventReleased = "released"
	eventLost     = "lost"
	eventFailed   = "failed"
)

// report is what a worker says.
type report struct {
	Event string `json:"event"`
	Token uint64 `json:"token,omitempty"`
	Value int    `json:"value,omitempty"`
	Text  string `json:"text,omitempty"`
}

// turn is a request to the ledger.
type turn struct {
	Worker  string `json:"worker"`
	Token   uint64 `json:"token"`
	Balance int    `json:"balance"`
}
