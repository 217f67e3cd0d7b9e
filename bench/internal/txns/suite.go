package txns

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
)

// Suite is one run of the benchmark.
type Suite struct {
	// Quick makes the run short and coarse.
	Quick bool
	// Stores are those Bedrock is measured on.
	Stores []string
	// DTM are servers to compare with.
	DTM []Server
	// Workloads and Subjects choose by name; empty means all.
	Workloads, Subjects []string
	// Dir is where the stores' data goes; empty: where temporary files go.
	Dir string
	// Profile is the folder for a CPU profile of every coordinator, empty for none.
	Profile string
	// Progress is told what is being measured, if not nil.
	Progress func(line string)

	workloads []Workload // those of Quick, if nil
}

// Outcome is what a run found for one workload and subject.
type Outcome struct {
	Workload Workload
	Subject  Subject
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

// subjects returns all that may be measured.
func (s *Suite) subjects() []Subject {
	list := []Subject{httpFloor()}
	for _, store := range s.Stores {
		list = append(list, storeFloor(store))
	}
	for _, store := range s.Stores {
		list = append(list, bedrock(store))
		if store == "mariadb" || store == "postgres" {
			list = append(list, pair(store))
		}
	}
	list = append(list, minimal())
	for _, server := range s.DTM {
		list = append(list, dtmServer(server))
	}
	return list
}

// Run measures until all is measured or ctx ends. A measurement that fails is
// part of the outcome and stops nothing; one that ctx cut short is not.
func (s *Suite) Run(ctx context.Context) ([]*Outcome, error) {
	workloads := s.workloads
	if workloads == nil {
		workloads = Workloads(s.Quick)
	}
	if err := s.check(workloads); err != nil {
		return nil, err
	}
	b, err := newBed(ctx, s.Dir, s.showProgress)
	if err != nil {
		return nil, err
	}
	var all []*Outcome
	for _, w := range workloads {
		if !chosen(s.Workloads, w.Name) {
			continue
		}
		outcomes := s.outcomes(w)
		for round := range w.Rounds {
			s.runRound(ctx, b, outcomes, round)
		}
		all = append(all, outcomes...)
	}
	return all, b.close()
}

// check refuses names that nothing has.
func (s *Suite) check(workloads []Workload) error {
	var works, subjects []string
	for _, w := range workloads {
		works = append(works, w.Name)
	}
	for _, sub := range s.subjects() {
		subjects = append(subjects, sub.Name)
	}
	return errors.Join(known("workload", s.Workloads, works), known("subject", s.Subjects, subjects))
}

func known(what string, names, all []string) error {
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("no %s is called %q: there are %s", what, name, strings.Join(all, ", "))
		}
	}
	return nil
}

// outcomes returns an empty outcome for each subject that fits w.
func (s *Suite) outcomes(w Workload) []*Outcome {
	var list []*Outcome
	for _, sub := range s.subjects() {
		if w.fits(sub) && chosen(s.Subjects, sub.Name) {
			list = append(list, &Outcome{Workload: w, Subject: sub})
		}
	}
	return list
}

// runRound measures every subject once. Each round starts at another subject, so
// that none always follows the same neighbour.
func (s *Suite) runRound(ctx context.Context, b *bed, outcomes []*Outcome, round int) {
	for i := 0; i < len(outcomes) && ctx.Err() == nil; i++ {
		o := outcomes[(i+round)%len(outcomes)]
		s.showProgress("%s  round %d/%d  %s", o.Workload.Name, round+1, o.Workload.Rounds, o.Subject.Name)
		sample, err := s.measureSubject(ctx, b, o)
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

// errTooLong ends a measurement that takes much longer than it should.
var errTooLong = errors.New("measurement took too long")

// measureSubject makes one measurement.
func (s *Suite) measureSubject(ctx context.Context, b *bed, o *Outcome) (Sample, error) {
	m := measurement{bed: b, subject: o.Subject}
	if s.Profile != "" {
		m.profile = filepath.Join(s.Profile, o.Workload.Name+"."+o.Subject.Name+".prof")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Workload.longest, errTooLong)
	defer cancel()
	others, err := watchOthers(o.Subject)
	if err != nil {
		return nil, err
	}
	sample, err := o.Workload.measure(ctx, m)
	if err == nil {
		sample[Others], err = others()
	}
	return sample, err
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
