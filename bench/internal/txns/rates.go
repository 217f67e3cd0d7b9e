package txns

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/bench/internal/floor"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/orders"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
)

// roundTrips is clients that call a participant themselves.
func roundTrips(clients int) Workload {
	return Workload{
		Name: nameFor("round-trips", clients), Unit: "calls/s",
		fits: func(s Subject) bool { return s.Role == Floor && s.Store == "" },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			url := participants.First(m.bed.parties.Addr, "action")
			do := func(ctx context.Context, _ int) error {
				return post(ctx, m.bed.client, url, []byte(orders.Payload))
			}
			if _, err := load.For(ctx, clients, m.pace.warm, do); err != nil {
				return nil, err
			}
			tally, err := load.For(ctx, clients, m.pace.length, do)
			return Sample{Value: tally.Rate()}.times(tally.Times), err
		},
	}
}

// writes is callers that make two durable writes for each transaction.
func writes(callers int) Workload {
	return Workload{
		Name: nameFor("durable-writes", callers), Unit: "pairs/s",
		fits: func(s Subject) bool { return s.Role == Floor && s.Store != "" },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			p, err := m.bed.place(ctx, m.subject.Store)
			if err != nil {
				return nil, err
			}
			defer p.drop()
			writer, err := floor.Start(ctx, floor.Job{Store: m.subject.Store, Place: p.source})
			if err != nil {
				return nil, err
			}
			defer writer.Kill()
			sample, err := measureProcess(m, writer.Run, callers, []int{writer.ID()}, p.processes())
			return sample, errors.Join(err, writer.Stop())
		},
	}
}

// rate is clients that run transactions of a mode, one after the other.
func rate(m mode, clients int) Workload {
	return Workload{
		Name: nameFor(m, clients), Unit: "tx/s",
		fits: func(s Subject) bool {
			if m != saga && s.Role != DTM {
				return s.Role == Bedrock && s.Store == embedded
			}
			return single(s)
		},
		measure: func(ctx context.Context, at measurement) (Sample, error) {
			system, err := at.bed.start(ctx, at.subject, at.profile)
			if err != nil {
				return nil, err
			}
			sample, err := measureRate(ctx, at, system, m, clients)
			return sample, errors.Join(err, system.stop())
		},
	}
}

// embedded is the store that Bedrock has when nothing is said.
const embedded = "sqlite"

// measureRate warms up and measures.
func measureRate(ctx context.Context, at measurement, system system, m mode, clients int) (Sample, error) {
	do, err := system.doer(m, at.bed.parties.Addr)
	if err != nil {
		return nil, err
	}
	if _, err := load.For(ctx, clients, at.pace.warm, do); err != nil {
		return nil, err
	}
	coordinators, stores := system.processes()
	return metered(coordinators, stores, func() (*load.Tally, error) {
		return load.For(ctx, clients, at.pace.length, do)
	})
}

// metered measures a rate, its times, and what it costs.
func metered(coordinators, stores []int, run func() (*load.Tally, error)) (Sample, error) {
	costs, err := newMeter(coordinators, stores)
	if err != nil {
		return nil, err
	}
	tally, err := run()
	if err != nil {
		return nil, err
	}
	sample := Sample{Value: tally.Rate()}.times(tally.Times)
	return sample, costs.read(sample, tally.Count)
}

// inProcess is callers that run sagas of functions in the coordinator's own process.
func inProcess(callers int) Workload {
	return Workload{
		Name: nameFor("functions", callers), Unit: "tx/s",
		fits: func(s Subject) bool { return s.Role == Bedrock && s.Replicas == 1 },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			e, err := m.bed.startEngine(ctx, m.subject.Store, m.profile)
			if err != nil {
				return nil, err
			}
			sample, err := measureProcess(m, e.Run, callers, []int{e.ID()}, e.place.processes())
			return sample, errors.Join(err, e.stop())
		},
	}
}

// measureProcess warms up and measures a process that makes its own load.
func measureProcess(
	m measurement, run func(load.Stretch) (*load.Tally, error), callers int, processes, stores []int,
) (Sample, error) {
	if _, err := run(load.Stretch{Clients: callers, Length: m.pace.warm}); err != nil {
		return nil, err
	}
	return metered(processes, stores, func() (*load.Tally, error) {
		return run(load.Stretch{Clients: callers, Length: m.pace.length})
	})
}
