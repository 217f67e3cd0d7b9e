package zklock

import (
	"net"
	"strings"
	"sync"

	"github.com/bedrock-go/bedrock/input"
)

const defaultPort = "2181"

// parseServers returns the addresses of the servers, and the folder that all paths are below. That is written behind
// the last of them, as everywhere with ZooKeeper: "a:2181", "b:2181/app".
func parseServers(servers []string) (addresses []string, chroot string, err error) {
	list, folder, found := strings.Cut(strings.Join(servers, ","), "/")
	if found {
		chroot = "/" + folder
		if strings.Contains(folder, ",") {
			return nil, "", input.Errorf("servers", "have a path before the last one: %q", chroot)
		}
		if chroot = strings.TrimSuffix(chroot, "/"); chroot != "" {
			if err := checkPath("servers", chroot); err != nil {
				return nil, "", err
			}
		}
	}
	for server := range strings.SplitSeq(list, ",") {
		address, err := withPort(strings.TrimSpace(server))
		if err != nil {
			return nil, "", err
		}
		addresses = append(addresses, address)
	}
	return addresses, chroot, nil
}

// withPort checks an address, and adds the usual port to one that has none.
func withPort(server string) (string, error) {
	if server == "" {
		return "", &input.Error{Field: "servers", Problem: "have one without an address: want host:port"}
	}
	if !strings.Contains(server, ":") || strings.HasPrefix(server, "[") && strings.HasSuffix(server, "]") {
		return net.JoinHostPort(strings.Trim(server, "[]"), defaultPort), nil
	}
	host, port, err := net.SplitHostPort(server)
	if err != nil || host == "" || port == "" {
		return "", input.Errorf("servers", "have %q: want host:port", server)
	}
	return server, nil
}

// hosts tells the client library which server is next. The library's own list looks names up once and for all.
type hosts struct {
	inVain func() // is told of each round in which no server was reached

	mu        sync.Mutex
	addresses []string
	next      int
	tried     int // since a server was reached
}

// Init implements zk.HostProvider: the library has shuffled the servers.
func (h *hosts) Init(servers []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addresses = servers
	return nil
}

// Len implements zk.HostProvider.
func (h *hosts) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.addresses)
}

// Next implements zk.HostProvider. After a round in vain the library pauses.
func (h *hosts) Next() (server string, round bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server = h.addresses[h.next%len(h.addresses)]
	if round = h.tried > 0 && h.tried%len(h.addresses) == 0; round {
		h.inVain()
	}
	h.next++
	h.tried++
	return server, round
}

// Connected implements zk.HostProvider.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = 0
}
