package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// describe names the operation and puts an error into the words of package driver.
func describe(operation, name string, err error) error {
	if class := classOf(err); class != nil {
		err = fmt.Errorf("%w: %w", class, err)
	}
	switch text := err.Error(); {
	case isAnotherServer(text):
		err = fmt.Errorf("%w: what answers there is no etcd, or asks for TLS", err)
	case strings.Contains(text, "error reading server preface:") && isHangingUp(text):
		err = fmt.Errorf("%w: %s", err, hangsUp)
	}
	return fmt.Errorf("etcdlock: %s %q: %w", operation, name, err)
}

// classOf returns the class to add to err, nil if it has one, or if nobody knows what has happened.
func classOf(err error) error {
	if _, done := errors.AsType[*afterwardsError](err); done {
		return nil
	}
	switch {
	case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrUnavailable), errors.Is(err, driver.ErrLost),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	case isNotDone(err):
		return driver.ErrUnavailable
	case isRefusal(codeOf(err)):
		return driver.ErrRefused
	}
	return nil
}

// codeOf returns what kind of error it is, by gRPC.
func codeOf(err error) codes.Code {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Code()
	}
	return status.Code(err)
}

// isNotDone reports whether the servers have certainly done nothing, and may do it another time: they have said so
// before they passed the request on to each other, or no connection could be made.
func isNotDone(err error) bool {
	for _, said := range []error{
		rpctypes.ErrNoLeader, rpctypes.ErrNoSpace, rpctypes.ErrTooManyRequests, rpctypes.ErrCorrupt,
		rpctypes.ErrNotCapable, rpctypes.ErrLeaseNotFound, rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision,
		errBehind,
	} {
		if errors.Is(err, said) {
			return true
		}
	}
	return codeOf(err) == codes.Unavailable && isUnconnected(err.Error())
}

// isUnconnected reports whether no connection could be made, by what gRPC says. It says it in words alone, and the
// same code of a request that was under way when its connection broke.
func isUnconnected(text string) bool {
	for _, words := range []string{
		"error while dialing", "authentication handshake failed", "no address available", "no connection available",
		"error reading server preface", "produced zero addresses", "no children to pick from",
	} {
		if strings.Contains(strings.ToLower(text), words) {
			return true
		}
	}
	return false
}

// isAnotherServer reports whether what answers does not speak HTTP/2: Redis, a web server, or one that does so by TLS
// alone. What it says is read as the head of a frame, which has a length that none has.
func isAnotherServer(text string) bool {
	return strings.Contains(text, "error reading server preface: http2: ") &&
		(strings.Contains(text, "frame too large") || strings.Contains(text, "looked like an HTTP/1.1 header"))
}

// hangsUp is what is wrong with a server that ends every connection.
const hangsUp = "what is there closes the connection: it is no etcd, or asks for TLS, or ends"

// isHangingUp reports whether a connection was ended from the other side.
func isHangingUp(text string) bool {
	return strings.Contains(text, "EOF") || strings.Contains(text, "connection reset by peer") ||
		strings.Contains(text, "broken pipe")
}

// isRefusal reports whether a server says by a code that it has done nothing, and will not do it another time.
func isRefusal(code codes.Code) bool {
	switch code {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition,
		codes.Unimplemented, codes.OutOfRange, codes.AlreadyExists:
		return true
	default:
		return false
	}
}

// isNoLease reports whether a server does not know a lease (any more).
func isNoLease(err error) bool { return errors.Is(err, rpctypes.ErrLeaseNotFound) }

// notSent says that nothing happened: what had to be done before the request could not be done.
func notSent(err error) error {
	if errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) || isRefusal(codeOf(err)) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
}

// errClosed says that the backend was closed.
var errClosed = fmt.Errorf("%w: the backend is closed", driver.ErrRefused)

// errOutrun says that each try was thwarted by another one.
var errOutrun = fmt.Errorf("%w: others are always quicker", driver.ErrUnavailable)

// errBehind says that what the key had from before is being ended.
var errBehind = errors.New("the time of this owner is over, and is being ended")

// errAnotherLeader says that a lease was prolonged by a leader that was none any more perhaps.
var errAnotherLeader = errors.New("the cluster has changed its leader meanwhile")

// afterwardsError is why it is not known what became of a request, the first step of which has been done. It is not
// in the class that it would be in if it had been that one's.
type afterwardsError struct{ err error }

// Error implements error.
func (e *afterwardsError) Error() string { return e.err.Error() }

// Unwrap returns what has happened.
func (e *afterwardsError) Unwrap() error { return e.err }
