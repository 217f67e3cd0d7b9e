//go:build race

package sim

// usualRuns is how many runs a test simulates if nobody says otherwise: a run takes ten times
// as long under the race detector.
const usualRuns = 50
