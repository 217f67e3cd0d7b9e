package child

import (
	"context"
	"net"
	"strconv"
)

// FreePort returns a loopback port that was free a moment ago, for a server that takes
// its port from the command line.
func FreePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return strconv.Itoa(port), listener.Close()
}
