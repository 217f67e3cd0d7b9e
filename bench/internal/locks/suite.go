package locks

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Suite is one run of the benchmark.
type Suite struct {
	// Store is the store that is measured.
	Store subject.Store
	// Addr is where its server is.
	Addr string
	// Server is the server's process id, 0 if it is not ours.
	Server int
	// More are the addresses of further servers, for subjects that need several.
	More []string
	// Time is how long each measurement takes, 0 for what its workload says.
	Time time.Duration
	// Quick makes the run short and coarse.
	Quick bool
	// Workloads and Subjects choose by name; empty means all.
	Workloads, Subjects []string
	// Profile is the folder for a CPU profile of every worker, empty for none.
	Profile string
	// Progress is told what is being measured, if not nil.
	Progress func(line string)
}

// Outcome is what a run found for one workload and subject.
type Outcome struct {
	Workload Workload
	Subject  subject.Subject
	Samples  []Sample
	// Err is why the last failed measurement failed.
	Err error
}

// Median returns the median of each metric over all samples.
func (o *Outcome) Median() Sample {
	median := make(Sample)
	if len(o.Samples) == 0 {
		return median
	}
	for metric := range o.Samples[0] {
		var values []float64
		for _, s := range o.Samples {
			values = append(values, s[metric])
		}
		median[metric] = stats.Median(values)
	}
	return median
}

// Run measures until all is measured or ctx ends. A measurement that fails is
// part of the outcome and stops nothing; one that ctx cut short is not.
func (s *Suite) Run(ctx context.Context) []*Outcome {
	var all []*Outcome
	run := strconv.FormatUint(uint64(rand.Uint32()), 36)
	s.warmServer(ctx, run)
	for n, w := range Workloads(s.Quick) {
		if !chosen(s.Workloads, w.Name) || !w.isFor(s.Store) || !w.Job.Place.possible(s.Server) {
			continue
		}
		if s.Quick && w.Full && len(s.Workloads) == 0 {
			continue
		}
		outcomes := s.outcomes(ctx, w)
		for round := range w.Rounds {
			s.runRound(ctx, outcomes, n, round, run)
		}
		all = append(all, outcomes...)
	}
	return all
}

// outcomes returns an empty outcome for each subject that fits w.
func (s *Suite) outcomes(ctx context.Context, w Workload) []*Outcome {
	var list []*Outcome
	for _, sub := range subject.All() {
		slow := sub.Program != nil && s.Store == subject.Redis // elsewhere there is time for it
		if s.Quick && (sub.Tuned || slow) && len(s.Subjects) == 0 {
			continue // the variants are for the full picture
		}
		if sub.Store == s.Store && w.Fits(sub) && chosen(s.Subjects, sub.Name) && s.isThere(ctx, w, sub) {
			list = append(list, &Outcome{Workload: w, Subject: sub})
		}
	}
	return list
}

// isThere reports whether a subject can be measured here, and says why if not.
func (s *Suite) isThere(ctx context.Context, w Workload, sub subject.Subject) bool {
	if have := 1 + len(s.More); have < sub.Servers {
		s.showProgress("%s  %s is not measured: it needs %d servers, not %d", w.Name, sub.Name, sub.Servers, have)
		return false
	}
	if sub.Program == nil {
		return true
	}
	_, err := sub.Program(ctx)
	if err != nil {
		s.showProgress("%s  %s is not measured: %v", w.Name, sub.Name, err)
	}
	return err == nil
}

// warmServer lets raw requests go to a server that becomes quicker by that, and does not count them.
func (s *Suite) warmServer(ctx context.Context, run string) {
	w := ownKeys(true)
	for _, sub := range subject.All() {
		if s.Store == subject.Redis || sub.Store != s.Store || sub.Role != subject.Raw || ctx.Err() != nil {
			continue
		}
		s.showProgress("warm up  %s", sub.Name)
		uncounted := &Outcome{Workload: w, Subject: sub}
		if _, err := s.measureSubject(ctx, uncounted, "bedrock-bench/"+run+"/warm"); err != nil {
			s.showProgress("warm up  %s failed: %v", sub.Name, err)
		}
	}
}

// runRound measures every subject once. Each round starts at another subject, and so does that of each workload, so
// that none always follows the same neighbour.
func (s *Suite) runRound(ctx context.Context, outcomes []*Outcome, first, round int, run string) {
	for i := 0; i < len(outcomes) && ctx.Err() == nil; i++ {
		o := outcomes[(i+first+round)%len(outcomes)]
		s.showProgress("%s  round %d/%d  %s", o.Workload.Name, round+1, o.Workload.Rounds, o.Subject.Name)
		key := fmt.Sprintf("bedrock-bench/%s/%s/%s/%d", run, o.Workload.Name, o.Subject.Name, round)
		sample, err := s.measureSubject(ctx, o, key)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			o.Err = err
			s.showProgress("%s  %s failed: %v", o.Workload.Name, o.Subject.Name, err)
			continue
		}
		o.Samples = append(o.Samples, sample)
	}
}

// measureSubject makes one measurement.
func (s *Suite) measureSubject(ctx context.Context, o *Outcome, key string) (Sample, error) {
	job := o.Workload.Job
	job.Workload, job.Subject, job.Key = o.Workload.Name, o.Subject.Name, key
	job.Addr, job.ServerProcess = s.Addr, s.Server
	if s.Store != subject.Redis {
		job.Time = max(job.Time, leastTime)
	}
	job.Time = cmp.Or(s.Time, job.Time)
	if o.Subject.Servers > 1 {
		job.More = s.More[:o.Subject.Servers-1]
	}
	if s.Profile != "" {
		job.Profile = filepath.Join(s.Profile, job.Workload+"."+job.Subject+".prof")
	}
	ctx, cancel := context.WithTimeout(ctx, job.Time+graceOf(o.Subject))
	defer cancel()
	return o.Workload.measure(ctx, measurement{job: job, subject: o.Subject})
}

// showProgress reports a line.
func (s *Suite) showProgress(format string, args ...any) {
	if s.Progress != nil {
		s.Progress(fmt.Sprintf(format, args...))
	}
}

// chosen reports whether name is in names, or names is empty.
func chosen(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// leastTime is how long is measured at least where a server waits for the disk, and so does less in a second.
const leastTime = time.Second

// The limits of quick runs.
const (
	quickLimit      = 42 * time.Second
	quickLimitOther = 4 * time.Minute // in which JVMs warm up
)

// QuickLimit is how long a quick run may measure a store.
func QuickLimit(store subject.Store) time.Duration {
	return either(store == subject.Redis, quickLimit, quickLimitOther)
}
