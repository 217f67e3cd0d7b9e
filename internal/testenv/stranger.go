package testenv

import "net"

// Nobody is an address at which nobody listens, and that is nobody else's until the test ends.
func Nobody(t Owner) (addr string) {
	t.Helper()
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	return loopback(p.number)
}

// Greets is a server that says something to who calls it, and then nothing any more.
func Greets(t Owner, greeting string) (addr string) {
	t.Helper()
	return stranger(t, func(conn net.Conn) { _, _ = conn.Write([]byte(greeting)) })
}

// SaysNothing is a server that takes connections, and is silent.
func SaysNothing(t Owner) (addr string) {
	t.Helper()
	return stranger(t, func(net.Conn) {})
}

// HangsUp is a server that closes each connection at once.
func HangsUp(t Owner) (addr string) {
	t.Helper()
	return stranger(t, func(conn net.Conn) { _ = conn.Close() })
}

// stranger starts a server that is none of those that tests look for: it does one thing with each connection, and keeps
// it until the test ends.
func stranger(t Owner, receive func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			receive(conn)
			open = append(open, conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}
