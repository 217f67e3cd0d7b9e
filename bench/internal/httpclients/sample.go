package httpclients

import (
	"context"
	"runtime"
	"syscall"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/load"
)

// sample is one measurement.
type sample struct {
	cpu, p50, p99     time.Duration
	allocations, rate float64
}

// takeSample measures calls for a time, after a few that make the connections.
func takeSample(ctx context.Context, do load.Do, atATime int, length time.Duration) (sample, error) {
	if _, err := load.For(ctx, atATime, length/10, do); err != nil {
		return sample{}, err
	}
	runtime.GC() // nobody pays for the garbage of another
	before, err := readUsage()
	if err != nil {
		return sample{}, err
	}
	tally, err := load.For(ctx, atATime, length, do)
	if err != nil {
		return sample{}, err
	}
	after, err := readUsage()
	calls := float64(max(tally.Count, 1))
	return sample{
		cpu:         time.Duration(float64(after.cpu-before.cpu) / calls),
		allocations: float64(after.objects-before.objects) / calls,
		p50:         tally.Times.Percentile(0.5), p99: tally.Times.Percentile(0.99), rate: tally.Rate(),
	}, err
}

// usage is what this process has used.
type usage struct {
	cpu     time.Duration
	objects uint64
}

func readUsage() (usage, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return usage{}, err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return usage{cpu: time.Duration(used.Utime.Nano() + used.Stime.Nano()), objects: memory.Mallocs}, nil
}
