package mincoord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// chunk is by how much the log's file grows. It is written with zeros in advance,
// so that a flush has no metadata to write.
const chunk = 64 << 20

// log is a file that many goroutines append to, flushed once for all who wait.
type log struct {
	file *os.File
	wake chan struct{} // holds one token when there is something to write
	done chan struct{}

	mu     sync.Mutex
	open   *flush // collects records
	closed bool

	offset, size int64 // the writer's alone
}

// flush is records that go to the disk together.
type flush struct {
	data []byte
	done chan struct{} // closed when they are there
	err  error
}

func newFlush() *flush { return &flush{done: make(chan struct{})} }

// openLog creates the log's file.
func openLog(path string) (*log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &log{file: file, wake: make(chan struct{}, 1), done: make(chan struct{}), open: newFlush()}
	if err := l.grow(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	go l.write()
	return l, nil
}

// append returns when record is on the disk.
func (l *log) append(record []byte) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return os.ErrClosed
	}
	f := l.open
	f.data = binary.AppendUvarint(f.data, uint64(len(record)))
	f.data = append(f.data, record...)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // the writer will see it
	}
	<-f.done
	return f.err
}

// write flushes whatever has been collected, as often as there is something.
func (l *log) write() {
	defer close(l.done)
	for range l.wake {
		l.mu.Lock()
		f := l.open
		l.open = newFlush()
		l.mu.Unlock()
		if len(f.data) > 0 {
			f.err = l.flush(f.data)
		}
		close(f.done)
	}
}

// flush writes data and waits for the disk.
func (l *log) flush(data []byte) error {
	for l.offset+int64(len(data)) > l.size {
		if err := l.grow(); err != nil {
			return err
		}
	}
	if _, err := l.file.WriteAt(data, l.offset); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	l.offset += int64(len(data))
	if err := unix.Fdatasync(int(l.file.Fd())); err != nil {
		return fmt.Errorf("flush log: %w", err)
	}
	return nil
}

// grow makes room for another chunk.
func (l *log) grow() error {
	if _, err := l.file.WriteAt(make([]byte, chunk), l.size); err != nil {
		return fmt.Errorf("grow log: %w", err)
	}
	l.size += chunk
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("grow log: %w", err)
	}
	return nil
}

// close ends the log; nobody may be appending any more.
func (l *log) close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	close(l.wake)
	<-l.done
	return l.file.Close()
}
