package txns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// orderService tells the service itself something, not through the way that may be broken.
func (r *run) orderService(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address(r.service.Addr)+path, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// diskFaults fill the disk under a store that is a file: no file of its process may grow
// any more, as a quota would have it.
func (r *run) diskFaults() []nemesis.Fault {
	if r.scene.file == "" || !stage.CanLimitFiles {
		return nil
	}
	return []nemesis.Fault{{Name: "disk full", Weight: 3, Strike: r.fillDisk}}
}

// fullAt is how large a file may be on the full disk: smaller than those of a store that
// has been used.
const fullAt = 64 << 10

func (r *run) fillDisk(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
	m := r.replicas[0]
	before, _ := stage.UsageOf(m.process.Pid())
	if err := stage.LimitFiles(m.process.Pid(), fullAt); err != nil {
		return e, err
	}
	sleep.For(ctx, 500*time.Millisecond)
	first := r.size()
	sleep.For(ctx, nemesis.Between(random, 2*time.Second, 5*time.Second))
	if last := r.size(); last != first || last < fullAt {
		err = fmt.Errorf("the store's log had %d bytes, and then %d", first, last)
	}
	after, _ := stage.UsageOf(m.process.Pid())
	e.Evidence = fmt.Sprintf("the store's log could not grow beyond %d bytes; open files before %d, after %d",
		first, before.Files, after.Files)
	if err = errors.Join(err, stage.LimitFiles(m.process.Pid(), stage.NoLimit)); err == nil {
		r.writesAgain(ctx, m)
	}
	return e, err
}

// writesAgain writes down how long a replica whose disk has space again takes to write.
func (r *run) writesAgain(ctx context.Context, m *member) {
	freed := history.Now()
	ctx, cancel := context.WithTimeout(ctx, 2*deadFor)
	defer cancel()
	co, err := dialReplicas([]string{address(m.Addr)})
	if err != nil {
		return
	}
	_, _ = tcc.Begin(ctx, co, "probe", &tcc.Options{Timeout: time.Second}) // nobody commits it
	co.Close()
	r.add(&event{
		Kind: kindUsage, ID: m.Name, Text: "after disk full",
		Numbers: map[string]int64{"dead": int64(history.Now() - freed)},
	})
}

// size is that of the log of the store.
func (r *run) size() int64 {
	log, err := os.Stat(r.scene.file + "-wal")
	if err != nil {
		return 0
	}
	return log.Size()
}
