package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// notices is a bell of the kernel.
type notices struct {
	events *os.File
	buf    [4096]byte
}

func newBell(path string) (bell, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	n := &notices{events: os.NewFile(uintptr(fd), "inotify")}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
		return nil, errors.Join(err, n.events.Close())
	}
	return n, nil
}

// Wait implements bell. What has come together is told once.
func (n *notices) Wait() error {
	_, err := n.events.Read(n.buf[:])
	return err
}

// Close implements bell.
func (n *notices) Close() error { return n.events.Close() }
