// Package child runs this program again as other processes, so that what is
// measured shares neither heap nor scheduler with those that measure it.
//
// A child is a role with a job. It gets the job as a line of JSON, says when it
// is ready, and then answers orders until its standard input ends.
package child
