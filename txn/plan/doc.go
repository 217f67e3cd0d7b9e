// Package plan holds what modes have in common: how a call's answer changes a
// transaction (Apply), which branches can go forward, be told the decision or be
// undone next (Forward, Confirm, Backward), and how long to wait between calls (Pause).
//
// Everything here is a pure function: no I/O, no clock, no chance. Even the jitter
// of pauses comes from the transaction's ID, so a run can be replayed.
package plan
