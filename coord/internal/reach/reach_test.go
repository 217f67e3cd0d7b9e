package reach_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/bedrock-go/bedrock/coord/internal/reach"
)

// TestOurOwnAddressIsTold, whose port is another one with every connection.
func TestOurOwnAddressIsTold(t *testing.T) {
	ours := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 59234}
	theirs := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	read := &net.OpError{Op: "read", Net: "tcp", Source: ours, Addr: theirs, Err: os.ErrDeadlineExceeded}
	dial := &net.OpError{Op: "dial", Net: "tcp", Addr: theirs, Err: os.ErrDeadlineExceeded}
	for want, err := range map[string]error{
		"read tcp 127.0.0.1:80: i/o timeout":              read,
		"unavailable: read tcp 127.0.0.1:80: i/o timeout": fmt.Errorf("unavailable: %w", read),
		"dial tcp 127.0.0.1:80: i/o timeout":              dial,
		"unexpected EOF":                                  errors.New("unexpected EOF"),
	} {
		if got := reach.ErrorText(err); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := reach.Failed(t.Context(), err, true).Note; got != "no valid answer: "+want {
			t.Error(got)
		}
		if got := reach.Unreached(err).Note; got != "not reached: "+want {
			t.Error(got)
		}
	}
	if read.Source == nil {
		t.Error("the error has changed")
	}
}
