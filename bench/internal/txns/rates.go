package txns

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/bench/internal/engine"
	"github.com/bedrock-go/bedrock/bench/internal/floor"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/orders"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
)

// roundTrips is clients that call a participant themselves.
func roundTrips(clients int) Workload {
	return Workload{
		Name: named("round-trips", clients), Unit: "calls/s",
		fits: func(s Subject) bool { return s.Role == Floor && s.Store == "" },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			url := participants.First(m.bed.parties.Addr, "action")
			do := func(ctx context.Context, _ int) error {
				return post(ctx, m.bed.client, url, []byte(orders.Payload))
			}
			if _, err := load.For(ctx, clients, m.pace.warm, do); err != nil {
				return nil, err
			}
			return sampled(load.For(ctx, clients, m.pace.length, do))
		},
	}
}

// writes is callers that make two durable writes for each transaction.
func writes(callers int) Workload {
	return Workload{
		Name: named("durable-writes", callers), Unit: "pairs/s",
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
			if _, err := writer.Run(load.Stretch{Clients: callers, Length: m.pace.warm}); err != nil {
				return nil, err
			}
			sample, err := sampled(writer.Run(load.Stretch{Clients: callers, Length: m.pace.length}))
			return sample, errors.Join(err, writer.Stop())
		},
	}
}

// sampled turns a tally into a rate and its times.
func sampled(tally *load.Tally, err error) (Sample, error) {
	if err != nil {
		return nil, err
	}
	return Sample{Value: tally.Rate()}.times(tally.Times), nil
}

// rate is clients that run transactions of a mode, one after the other.
func rate(m mode, clients int) Workload {
	return Workload{
		Name: named(m, clients), Unit: "tx/s",
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
	do, err := system.do(m, at.bed.parties.Addr)
	if err != nil {
		return nil, err
	}
	if _, err := load.For(ctx, clients, at.pace.warm, do); err != nil {
		return nil, err
	}
	var tally *load.Tally
	sample, err := metered(system, func() (int64, error) {
		tally, err = load.For(ctx, clients, at.pace.length, do)
		return tally.Count, err
	})
	if err != nil {
		return nil, err
	}
	sample[Value] = tally.Rate()
	return sample.times(tally.Times), nil
}

// metered measures the processor time of what runs, for 1,000 of what it counts.
func metered(system system, run func() (count int64, err error)) (Sample, error) {
	sample := make(Sample)
	coordinators, stores := system.processes()
	parts := map[Metric][]int{CPU: coordinators, StoreCPU: stores}
	for metric, pids := range parts {
		used, err := usage(pids)
		if err != nil {
			return nil, err
		}
		sample[metric] = -used.Seconds()
	}
	count, err := run()
	if err != nil {
		return nil, err
	}
	for metric, pids := range parts {
		used, err := usage(pids)
		if err != nil {
			return nil, err
		}
		sample[metric] = 1000 * (sample[metric] + used.Seconds()) / float64(max(count, 1))
		if len(pids) == 0 {
			delete(sample, metric)
		}
	}
	return sample, nil
}

// inProcess is callers that run sagas of functions in the coordinator's own process.
func inProcess(callers int) Workload {
	return Workload{
		Name: named("functions", callers), Unit: "tx/s",
		fits: func(s Subject) bool { return s.Role == Bedrock && s.Replicas == 1 },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			e, err := m.bed.startEngine(ctx, m.subject.Store, m.profile)
			if err != nil {
				return nil, err
			}
			sample, err := measureFunctions(m, e.Process, callers)
			return sample, errors.Join(err, e.stop())
		},
	}
}

func measureFunctions(m measurement, e *engine.Process, callers int) (Sample, error) {
	if _, err := e.Run(load.Stretch{Clients: callers, Length: m.pace.warm}); err != nil {
		return nil, err
	}
	return sampled(e.Run(load.Stretch{Clients: callers, Length: m.pace.length}))
}
