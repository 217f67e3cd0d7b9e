// Package daemon is what bedrock serve runs: a coordinator, a store of locks, the
// API, the console, metrics and traces, started and stopped together.
package daemon
