// Package locks measures distributed locks.
//
// A [Workload] is measured on a subject in a fresh process, or in several that
// share nothing but the Redis server: this program starts itself again as a
// worker, sends it a [Job] and talks to it in lines of JSON. The half of a
// workload that runs in the worker is its work function; the half that starts
// the workers and adds up their results is its measure function.
//
// [Suite] measures all subjects in turn, several times over, so that a noisy
// machine disturbs all alike, and takes medians.
package locks
