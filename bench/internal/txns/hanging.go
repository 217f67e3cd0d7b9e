package txns

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/bench/internal/load"
)

// besideHanging is clients that run healthy sagas, and after every 19 hand over one
// whose participant hangs for 30 s. The value is the rate of the healthy ones as a
// share of what it was before there were others.
func besideHanging(clients int) Workload {
	return Workload{
		Name: nameFor("beside-hanging", clients), Unit: "of normal",
		fits: func(s Subject) bool { return s.Role == Bedrock && s.Store == embedded },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			system, err := m.bed.start(ctx, m.subject, m.profile)
			if err != nil {
				return nil, err
			}
			sample, err := measureHanging(ctx, m, system, clients)
			return sample, errors.Join(err, system.stop())
		},
	}
}

// healthy is how many transactions in a row do not hang: 95 %.
const healthy = 19

// measureHanging measures the rate without those that hang and then with them,
// after they have piled up for as long as the measurements last.
func measureHanging(ctx context.Context, m measurement, system system, clients int) (Sample, error) {
	do, err := system.doer(saga, m.bed.parties.Addr)
	if err != nil {
		return nil, err
	}
	if _, err := load.For(ctx, clients, m.pace.warm, do); err != nil {
		return nil, err
	}
	length := 3 * m.pace.length
	normal, err := load.For(ctx, clients, length, do)
	if err != nil {
		return nil, err
	}
	mixed := mix(system, clients, do, m.bed.parties.Hanging)
	if _, err := load.For(ctx, clients, length, mixed); err != nil {
		return nil, err
	}
	beside, err := load.For(ctx, clients, length, mixed)
	if err != nil {
		return nil, err
	}
	return Sample{
		Value: beside.Rate() / normal.Rate(), Normal: normal.Rate(), Healthy: beside.Rate(),
	}.times(beside.Times), nil
}

// mix lets clients hand over a transaction that hangs, now and then. Nobody waits
// for those, and they are not counted.
func mix(system system, clients int, do load.Do, hanging string) load.Do {
	turns := make([]int, clients)
	var handed atomic.Int64
	return func(ctx context.Context, client int) error {
		if turns[client]++; turns[client]%healthy == 0 {
			if err := system.submitSaga(ctx, client, int(handed.Add(1)), hanging); err != nil {
				return err
			}
		}
		return do(ctx, client)
	}
}
