package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Work is the life of a worker: it reads a [Job] from in, does it and reports
// on out. It is killed by its parent when it takes too long.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	w := newWire(in, out)
	var job Job
	if err := w.receive(&job); err != nil {
		return err
	}
	workload, found := find(job.Workload)
	if !found {
		return fmt.Errorf("no workload is called %q", job.Workload)
	}
	end, err := profile(job.Profile)
	if err != nil {
		return err
	}
	return errors.Join(workload.work(ctx, job, w), end())
}

// open connects the job's subject.
func (j Job) open(ctx context.Context) (subject.Locker, error) {
	s, found := subject.Find(j.Subject)
	if !found {
		return nil, fmt.Errorf("no subject is called %q", j.Subject)
	}
	return s.Open(ctx, j.Redis, cmp.Or(j.TTL, subject.Lease))
}

// profile writes a CPU profile to path until the returned function is called.
func profile(path string) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("write profile: %w", errors.Join(err, file.Close()))
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
