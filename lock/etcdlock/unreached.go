package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

// describeRead is describe for a request that changes nothing. The client makes such a one again and again until its
// context ends, and that is all that it tells then: why no server was reached is asked for here.
func (b *backend) describeRead(operation, name string, err error) error {
	if why := b.whyUnreached(err); why != "" {
		err = fmt.Errorf("%w: %s: %s", err, addressOf(b.client), why)
	}
	return describe(operation, name, err)
}

// whyTime is how long it may take to ask why there is no connection: the answer is known here.
const whyTime = 50 * time.Millisecond

// whyUnreached returns why there is no connection to any server, if that is why the time was up.
func (b *backend) whyUnreached(err error) string {
	conn := b.client.ActiveConnection()
	switch {
	case !errors.Is(err, context.DeadlineExceeded):
		return ""
	case isConnecting(b.client):
		return unanswered
	case conn.GetState() != connectivity.TransientFailure:
		return ""
	}
	ctx, cancel := context.WithTimeout(b.life, whyTime)
	defer cancel()
	_, err = etcdserverpb.NewMaintenanceClient(conn).Status(ctx, &etcdserverpb.StatusRequest{})
	if status.Code(err) != codes.Unavailable {
		return ""
	}
	why := status.Convert(err).Message()
	switch {
	case strings.Contains(why, "use of closed network connection"): // it was closed here, after a while
		return unanswered
	case isHangingUp(why) && !strings.Contains(why, "error reading server preface:"): // else it is told all the same
		return why + ": " + hangsUp
	}
	return why
}

// unanswered is what is wrong with a server that lets itself be called, and then says nothing.
const unanswered = "no answer: it hangs, or is no etcd"

// isConnecting reports whether a connection is being made: nothing was asked yet.
func isConnecting(client *clientv3.Client) bool {
	return client.ActiveConnection().GetState() == connectivity.Connecting
}

// addressOf says where a client looks for servers.
func addressOf(client *clientv3.Client) string { return strings.Join(client.Endpoints(), ", ") }
