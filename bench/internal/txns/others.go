package txns

import (
	"os"
	"runtime"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// watchOthers begins to watch how much of the machine is used by processes that
// have no part in what is measured; the function it returns says how much, in
// percent.
func watchOthers(s Subject) (func() (float64, error), error) {
	began := time.Now()
	before, err := elsewhere(s)
	if err != nil {
		return nil, err
	}
	return func() (float64, error) {
		after, err := elsewhere(s)
		machine := float64(time.Since(began)) * float64(runtime.NumCPU())
		return 100 * float64(max(after-before, 0)) / machine, err
	}, nil
}

// elsewhere is the processor time used so far by all but this program, what it has
// started, and the subject.
func elsewhere(s Subject) (time.Duration, error) {
	all, err := child.Busy()
	if err != nil {
		return 0, err
	}
	ours, err := child.Tree(os.Getpid())
	if err != nil {
		return 0, err
	}
	if pid, found := serverOf(s); found {
		theirs, err := child.Tree(pid)
		if err != nil {
			return 0, err
		}
		ours += theirs
	}
	return all - ours, nil
}
