package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Work is the life of a worker: it reads a [Job] from in, does it and reports
// on out. It is killed by its parent when it takes too long.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	w := newWire(in, out)
	var job Job
	if err := w.readMessage(&job); err != nil {
		return err
	}
	workload, found := find(job.Workload)
	if !found {
		return fmt.Errorf("no workload is called %q", job.Workload)
	}
	end, err := child.Profile(job.Profile)
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
	site := subject.Site{Addr: j.Addr, More: j.More, Delay: j.Delay}
	return s.Open(ctx, site, cmp.Or(j.TTL, subject.Lease))
}
