package txns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/engine"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
)

// slowness is what a call takes participants that are slow: long enough that the
// coordinator's own limits bound the rate, and not the processors that everything
// here shares. So more replicas can show what they are worth.
const slowness = 100 * time.Millisecond

// outage is sagas that are submitted while their participants are down. The value
// is how many are committed in a second, from the first call on.
func outage(name string, sagas int, delay time.Duration) Workload {
	return Workload{
		Name: name, Unit: "tx/s", Rounds: 1, longest: 15 * time.Minute,
		fits: func(s Subject) bool {
			switch {
			case delay > 0: // of interest for the number of replicas
				return s.Role == Bedrock && (s.Store == "mariadb" || s.Store == "postgres")
			case s.Role == DTM: // 100,000 would take it minutes to accept and to drain
				return sagas <= 1000
			default:
				return s.Role == Bedrock
			}
		},
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			system, err := m.bed.start(ctx, m.subject, m.profile)
			if err != nil {
				return nil, err
			}
			sample, err := measureOutage(ctx, m, system, sagas, delay)
			return sample, errors.Join(err, system.stop())
		},
	}
}

// submitters is how many clients submit at once.
const submitters = 64

// measureOutage submits sagas to nobody, and watches them recover.
func measureOutage(ctx context.Context, m measurement, system system, sagas int, delay time.Duration) (Sample, error) {
	addr, err := participants.Reserve(ctx)
	if err != nil {
		return nil, err
	}
	if err := submitAll(ctx, system, sagas, addr); err != nil {
		return nil, err
	}
	if err := load.Pause(ctx, m.pace.hold); err != nil {
		return nil, err
	}
	costs, err := newMeter(system.processes())
	if err != nil {
		return nil, err
	}
	parties, err := participants.Start(ctx, participants.Job{Addr: addr, Delay: delay, Track: true})
	if err != nil {
		return nil, err
	}
	defer parties.Stop()
	if err := drained(ctx, system, parties, sagas); err != nil {
		return nil, err
	}
	over := time.Now()
	seen, err := parties.Stats()
	if err != nil {
		return nil, err
	}
	sample := Sample{
		Value:        float64(sagas) / over.Sub(seen.First).Seconds(),
		FirstCall:    seen.First.Sub(parties.Since).Seconds(),
		Transactions: float64(sagas), Calls: float64(seen.Calls) / float64(sagas),
	}
	return sample, costs.read(sample, int64(sagas))
}

// submitAll hands over sagas from many clients at once.
func submitAll(ctx context.Context, system system, sagas int, addr string) error {
	next := make(chan int, sagas)
	for n := range sagas {
		next <- n
	}
	_, err := load.Times(ctx, submitters, sagas, func(ctx context.Context, client int) error {
		return system.submitSaga(ctx, client, <-next, addr)
	})
	return err
}

// drained waits until all sagas have called their last participant, and then until
// all are committed. Before, nobody asks the coordinator, which has other things to
// do.
func drained(ctx context.Context, system system, parties *participants.Services, sagas int) error {
	err := load.Until(ctx, 10*time.Millisecond, func() (bool, error) {
		seen, err := parties.Stats()
		return seen.Finished >= sagas, err
	})
	finished := 0
	if err == nil {
		err = load.Until(ctx, 5*time.Millisecond, func() (done bool, err error) {
			finished, err = system.finished(ctx, sagas)
			return finished >= sagas, err
		})
	}
	if err != nil {
		seen, _ := parties.Stats()
		return fmt.Errorf("drain: %d of %d called everybody, %d committed: %w", seen.Finished, sagas, finished, err)
	}
	return nil
}

// functionOutage is the same with functions, in the coordinator's own process.
func functionOutage(name string, sagas int) Workload {
	return Workload{
		Name: name, Unit: "tx/s", Rounds: 1, longest: 10 * time.Minute,
		fits: func(s Subject) bool { return s.Role == Bedrock && s.Store == embedded },
		measure: func(ctx context.Context, m measurement) (Sample, error) {
			e, err := m.bed.startEngine(ctx, m.subject.Store, m.profile)
			if err != nil {
				return nil, err
			}
			r, err := e.Outage(engine.Outage{Sagas: sagas, Length: m.pace.hold})
			if err := errors.Join(err, e.stop()); err != nil {
				return nil, err
			}
			return Sample{
				Value:     float64(sagas) / r.Drained.Seconds(),
				FirstCall: r.FirstCall.Seconds(), Transactions: float64(sagas),
			}, nil
		},
	}
}
