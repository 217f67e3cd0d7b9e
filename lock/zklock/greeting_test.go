package zklock_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestOtherServersAreNotTold from those that are away: the error says where something else is, and how it answers.
func TestOtherServersAreNotTold(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		testenv.SaysNothing(t):                "accepts connections and does not answer",
		greeter(t, ""):                        "closes connections without an answer",
		greeter(t, "E\x00\x00\x00\x90SFATAL"): `does not speak ZooKeeper's protocol: what it says begins with "E\x00`,
	} {
		b := openAtOnce(t, &zklock.Options{Session: 4 * time.Second}, addr)
		_, err := b.Acquire(ctxFor(t), request("a", "me:1"))
		if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), addr+" "+want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// greeter says the same to all that ask it something, and closes the connection.
func greeter(t testing.TB, greeting string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(conn, make([]byte, 44)) // all of the first request
			_, _ = io.WriteString(conn, greeting)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		answering.Wait()
	})
	return l.Addr().String()
}
