package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

// describeRead is describe for a request that changes nothing. The client makes such a one again and again until its
// context ends, and that is all that it tells then: why no server was reached is asked for here.
func (b *backend) describeRead(operation, name string, err error) error {
	if why := b.whyUnreached(err); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return describe(operation, name, err)
}

// whyTime is how long it may take to ask why there is no connection: the answer is known here.
const whyTime = 50 * time.Millisecond

// whyUnreached returns why there is no connection to any server, if that is why the time was up.
func (b *backend) whyUnreached(err error) string {
	conn := b.client.ActiveConnection()
	if !errors.Is(err, context.DeadlineExceeded) || conn.GetState() != connectivity.TransientFailure {
		return ""
	}
	ctx, cancel := context.WithTimeout(b.life, whyTime)
	defer cancel()
	_, err = etcdserverpb.NewMaintenanceClient(conn).Status(ctx, &etcdserverpb.StatusRequest{})
	if status.Code(err) != codes.Unavailable {
		return ""
	}
	return status.Convert(err).Message()
}
