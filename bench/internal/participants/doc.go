// Package participants is the two services that take part in the transactions of
// the benchmark. They run in a process of their own and do next to nothing, so
// that what is measured is the coordinator.
package participants
