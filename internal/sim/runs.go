//go:build !race

package sim

// usualRuns is how many runs a test simulates if nobody says otherwise.
const usualRuns = 200
