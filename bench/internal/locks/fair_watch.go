package locks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// lineWatch follows a line by what MONITOR tells of the commands, those of scripts included.
type lineWatch struct {
	addr string
	line *line
	last string // the last word that is of interest
	conn net.Conn
	done chan error
}

// watchLine begins to follow the line of a lock.
func watchLine(ctx context.Context, addr, name string) (*lineWatch, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	w := &lineWatch{addr: addr, line: newLine(name), last: name + "/over", conn: conn, done: make(chan error, 1)}
	in := bufio.NewReaderSize(conn, 1<<20)
	if _, err = conn.Write([]byte("MONITOR\r\n")); err == nil {
		_, err = in.ReadString('\n')
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("watch: %w", err)
	}
	go func() { w.done <- w.read(in) }()
	return w, nil
}

func (w *lineWatch) read(in *bufio.Reader) error {
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		text = strings.TrimSuffix(text, "\r\n")
		if strings.HasSuffix(text, `"`+w.last+`"`) {
			return nil
		}
		w.line.followCommand(text)
	}
}

// endWatch returns what was seen by now.
func (w *lineWatch) endWatch(ctx context.Context) (*line, error) {
	rdb := redis.NewClient(&redis.Options{Addr: w.addr})
	defer rdb.Close()
	if err := rdb.Echo(ctx, w.last).Err(); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	select {
	case err := <-w.done:
		return w.line, err
	case <-ctx.Done():
		return nil, errors.New("watch: not at its end in time")
	}
}

// close ends it at once.
func (w *lineWatch) close() { _ = w.conn.Close() }
