package subject

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// farConn is a connection to a server that is further away: every answer takes so much longer.
type farConn struct {
	*net.TCPConn

	timer *timer
}

// Read implements [net.Conn]. It waits when an answer has come, and not before: the time is that of the way.
func (c *farConn) Read(p []byte) (n int, err error) {
	n, err = c.TCPConn.Read(p)
	if err == nil {
		err = c.timer.waitOut()
	}
	return n, err
}

// Close implements [net.Conn].
func (c *farConn) Close() error { return errors.Join(c.TCPConn.Close(), c.timer.file.Close()) }

// farDialer returns what makes such connections for go-redis.
func farDialer(delay time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return nil, errors.Join(fmt.Errorf("%s is no TCP", network), conn.Close())
		}
		t, err := newTimer(delay)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return &farConn{TCPConn: tcp, timer: t}, nil
	}
}

// timer is one of the kernel's. Those of Go are late by a quarter of a millisecond when several end at about the same
// time: they wait for whole milliseconds, and answers of several servers would seem to come one after the other.
type timer struct {
	file *os.File
	raw  syscall.RawConn

	start func(fd uintptr) // made once, so that waiting costs no memory
	err   error            // of starting
	times [8]byte          // how often it has ended since
}

func newTimer(d time.Duration) (*timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make timer: %w", err)
	}
	t := &timer{file: os.NewFile(uintptr(fd), "timer")}
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	t.start = func(fd uintptr) { t.err = unix.TimerfdSettime(int(fd), 0, &once, nil) }
	if t.raw, err = t.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("make timer: %w", err), t.file.Close())
	}
	return t, nil
}

// waitOut waits for the timer's time. One goroutine may do that at a time.
func (t *timer) waitOut() error {
	if err := t.raw.Control(t.start); err != nil {
		return fmt.Errorf("start timer: %w", err)
	}
	if t.err != nil {
		return fmt.Errorf("start timer: %w", t.err)
	}
	_, err := t.file.Read(t.times[:])
	return err
}
