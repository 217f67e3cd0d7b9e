package testenv

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// commandTimeout bounds one command, so that a frozen server fails a test
// instead of hanging it.
const commandTimeout = 5 * time.Second

// ReplyError is an error the server answered with.
type ReplyError string

// Error implements error.
func (e ReplyError) Error() string { return string(e) }

// sendCommands sends commands over a connection of their own and returns the last
// reply: a string, an int64, nil or a []any of these.
func sendCommands(addr string, conf *tls.Config, commands ...[]string) (any, error) {
	conn, err := dial(addr, conf)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(commandTimeout))
	r := bufio.NewReader(conn)
	var reply any
	for _, command := range commands {
		if _, err := conn.Write(encode(command)); err != nil {
			return nil, fmt.Errorf("send command: %w", err)
		}
		if reply, err = decode(r); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// dial connects, with TLS when conf is given.
func dial(addr string, conf *tls.Config) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: commandTimeout}
	if conf != nil {
		return tls.DialWithDialer(dialer, "tcp", addr, conf)
	}
	return dialer.Dial("tcp", addr)
}

// encode writes a command as an array of bulk strings.
func encode(args []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}

// decode reads one reply of protocol version 2.
func decode(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("read reply: empty line")
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return nil, ReplyError(rest)
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		return decodeBulk(r, rest)
	case '*':
		return decodeArray(r, rest)
	default:
		return nil, fmt.Errorf("read reply: unknown kind %q", kind)
	}
}

// decodeBulk reads a string of the given length; -1 is nil.
func decodeBulk(r *bufio.Reader, length string) (any, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	b := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	return string(b[:n]), nil
}

// decodeArray reads the given number of replies; -1 is nil. An error inside an
// array is kept as an element.
func decodeArray(r *bufio.Reader, length string) (any, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return nil, err
	}
	list := make([]any, n)
	for i := range list {
		var refused ReplyError
		if list[i], err = decode(r); errors.As(err, &refused) {
			list[i] = refused
		} else if err != nil {
			return nil, err
		}
	}
	return list, nil
}
