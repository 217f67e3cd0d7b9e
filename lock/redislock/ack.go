package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// AckError says that too few replicas had a grant in time, and that it was
// taken back. It is unavailable in the words of package driver: nothing is left
// behind, asking again may help.
type AckError struct {
	// Need is how many replicas had to have it, Got how many did.
	Need, Got int
}

// Error implements error.
func (e *AckError) Error() string {
	return fmt.Sprintf("%d of %d replicas acknowledged", e.Got, e.Need)
}

// Is reports whether target is [driver.ErrUnavailable].
func (e *AckError) Is(target error) bool { return target == driver.ErrUnavailable }

// takeBackTime bounds the release of a grant that too few replicas have.
const takeBackTime = 500 * time.Millisecond

// evalAcked runs the acquisition and waits until enough replicas have it.
func (b *backend) evalAcked(ctx context.Context, h *handle, args []string) (Reply, error) {
	need, err := b.acksNeeded(ctx, h.keys.name)
	if err != nil {
		return Reply{}, err
	}
	call := Call{Keys: h.call[:], Args: args}
	reply, got, err := b.conn.EvalWait(ctx, b.scripts.acquire, call, need, b.opts.AckTimeout)
	if err != nil || refused(reply) || got >= need {
		return reply, err
	}
	b.replicas.forget()
	return Reply{}, b.takeBack(ctx, h, &AckError{Need: need, Got: got})
}

// refused tells whether the acquisition was answered with a refusal.
func refused(reply Reply) bool { return len(reply.Items) > 0 && reply.Items[0].Int == 0 }

// takeBack releases a grant that does not count. If that fails too, the error
// is of no class: the grant may be there.
func (b *backend) takeBack(ctx context.Context, h *handle, cause *AckError) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	publish, err := b.pubsub.command(ctx, b)
	if err == nil {
		_, err = b.evalRelease(ctx, h, publish)
	}
	if err != nil {
		return fmt.Errorf("%d of %d replicas acknowledged, and it could not be taken back: %w", cause.Got, cause.Need, err)
	}
	return cause
}

// replicaCount remembers how many replicas every master has, until a count
// proves wrong.
type replicaCount struct {
	mu    sync.Mutex
	known map[string]int // by the master's id
}

func (r *replicaCount) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = nil
}

// acksNeeded returns how many replicas must acknowledge.
func (b *backend) acksNeeded(ctx context.Context, name string) (int, error) {
	if b.opts.Acks >= 0 {
		return int(b.opts.Acks), nil
	}
	n, err := b.replicaCountFor(ctx, name)
	if err != nil {
		return 0, err
	}
	if b.opts.Acks == AckMajority {
		// Of n replicas and the master, which has the grant itself.
		return (n + 1) / 2, nil
	}
	return n, nil
}

func (b *backend) replicaCountFor(ctx context.Context, name string) (int, error) {
	owner, err := b.conn.Owner(ctx, name, false)
	if err != nil {
		return 0, err
	}
	b.replicas.mu.Lock()
	n, ok := b.replicas.known[owner]
	b.replicas.mu.Unlock()
	if ok {
		return n, nil
	}
	counts, err := b.countReplicas(ctx)
	if err != nil {
		return 0, err
	}
	b.replicas.mu.Lock()
	b.replicas.known = counts
	b.replicas.mu.Unlock()
	return counts[owner], nil
}

// countReplicas asks every master how many replicas are connected. Outside a
// cluster the only one goes by the empty id.
func (b *backend) countReplicas(ctx context.Context) (map[string]int, error) {
	counts := make(map[string]int)
	err := b.conn.EachMaster(ctx, func(n Node) error {
		reply, err := n.Do(ctx, "INFO", "replication")
		if err != nil {
			return err
		}
		id := ""
		if b.conn.Cluster() {
			id = n.Addr()
		}
		counts[id], err = strconv.Atoi(infoField(reply.Str, "connected_slaves"))
		return err
	})
	return counts, err
}

// infoField picks a field out of INFO's answer, empty when it is not there.
func infoField(info, field string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			return value
		}
	}
	return ""
}
