package testenv_test

import (
	"net"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestFrozenServerAnswersAfterThaw(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, nil)
	s.Freeze()
	answered := make(chan error, 1)
	go func() {
		_, err := s.Try("PING")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("a frozen server answered: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	s.Thaw()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
}

func TestFrozenServerIsStopped(t *testing.T) {
	var addr string
	t.Run("started and frozen", func(t *testing.T) {
		s := testenv.Redis(t, nil)
		addr = s.Addr()
		s.Freeze()
	})
	if accepts(addr) {
		t.Fatal("a frozen server outlived its test")
	}
}

func accepts(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
