package allow

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// resolver answers every question with one address, like a name server that somebody
// else controls.
func resolver(addr netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // which is spoken to as if it was TCP
		go func() {
			defer server.Close()
			for answerOne(server, addr) == nil {
			}
		}()
		return client, nil
	}}
}

func answerOne(c net.Conn, addr netip.Addr) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, query); err != nil {
		return err
	}
	const header, typeA = 12, 1
	end := header
	for query[end] != 0 { // the labels of the name
		end += int(query[end]) + 1
	}
	end += 1 + 4
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[header:end]...)
	if binary.BigEndian.Uint16(query[end-4:]) == typeA {
		reply[7] = 1 // answers
		reply = append(reply, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, addr.AsSlice()...)
	}
	_, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	return err
}

// Names are judged by what they resolve to when they are dialled, so it does not
// help to let them resolve to something else before.
func TestNamesThatTurnIntoAddresses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, c := range []struct {
		rules, name, addr string
		allowed           bool
	}{
		{"*.example.com", "a.example.com", "127.0.0.1", false},
		{"*.example.com", "a.example.com", "169.254.169.254", false},
		{"*.example.com", "a.example.com", "0.0.0.0", false},
		{"a.example.com", "a.example.com", "224.0.0.1", false},
		{"10.0.0.0/8", "a.example.com", "127.0.0.1", false},
		{"10.0.0.0/8", "a.example.com", "192.0.2.1", false},
		{"0.0.0.0/0", "a.example.com", "169.254.169.254", false},
		{"127.0.0.0/8", "a.example.com", "127.0.0.1", false},
		{"*", "a.example.com", "169.254.169.254", false},
		{"*", "a.example.com", "127.0.0.1", true},
	} {
		t.Run(strings.Join([]string{c.rules, c.addr}, " "), func(t *testing.T) {
			rules, err := Parse(c.rules)
			if err != nil {
				t.Fatal(err)
			}
			d := rules.Dialer("http", 5*time.Second)
			d.dialer.Resolver = resolver(netip.MustParseAddr(c.addr))
			conn, err := d.Dial(t.Context(), "tcp", net.JoinHostPort(c.name, port))
			if conn != nil {
				conn.Close()
			}
			if errors.Is(err, ErrDenied) == c.allowed || (err == nil) != c.allowed {
				t.Error(err)
			}
			if err != nil && !strings.Contains(err.Error(), c.addr) {
				t.Error("does not name the address:", err)
			}
		})
	}
}

// An odd host must not get as far as the system's resolver, which may be lenient.
func TestOddHostsAreNotDialled(t *testing.T) {
	d := Everyone().Dialer("http", 5*time.Second)
	d.dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("resolved")
		return nil, errors.New("no")
	}}
	for _, address := range []string{
		"127.1:80", "2130706433:80", "[::1%lo]:80", "localhost", ":80", "0x7f.1:80", "a:0",
	} {
		if conn, err := d.Dial(t.Context(), "tcp", address); err == nil {
			conn.Close()
			t.Error(address, "connected")
		}
	}
}
