package txns

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// meter measures the processor time of coordinators and of their store's server.
type meter struct {
	groups map[Metric][]int
	before map[Metric]time.Duration
}

// newMeter begins to measure. Groups without processes are left out.
func newMeter(coordinators, stores []int) (*meter, error) {
	m := &meter{
		groups: map[Metric][]int{CPU: coordinators, StoreCPU: stores},
		before: make(map[Metric]time.Duration),
	}
	for metric, group := range m.groups {
		used, err := usage(group)
		if err != nil {
			return nil, err
		}
		m.before[metric] = used
	}
	return m, nil
}

// read adds to a sample what has been used for 1,000 of what was counted.
func (m *meter) read(s Sample, count int64) error {
	for metric, group := range m.groups {
		if len(group) == 0 {
			continue
		}
		used, err := usage(group)
		if err != nil {
			return err
		}
		s[metric] = 1000 * (used - m.before[metric]).Seconds() / float64(max(count, 1))
	}
	return nil
}

// usage is the processor time that processes have used.
func usage(processes []int) (time.Duration, error) {
	var total time.Duration
	for _, pid := range processes {
		used, err := child.CPU(pid)
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}
