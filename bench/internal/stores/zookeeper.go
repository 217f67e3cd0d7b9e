package stores

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// zookeeperJar is where Debian has the server.
const zookeeperJar = "/usr/share/java/zookeeper.jar"

// startZooKeeper runs a server that stands alone, as it comes.
func (s *Server) startZooKeeper(ctx context.Context) error {
	java, err := findProgram("java")
	if err != nil {
		return err
	}
	if _, err := os.Stat(zookeeperJar); err != nil {
		return fmt.Errorf("%w (make servers)", err)
	}
	port, err := child.FreePort(ctx)
	if err != nil {
		return err
	}
	settings := filepath.Join(s.dir, "zoo.cfg")
	if err := os.WriteFile(settings, []byte(strings.Join([]string{
		"tickTime=2000", "dataDir=" + filepath.Join(s.dir, "data"), "clientPort=" + port, "clientPortAddress=127.0.0.1",
		"admin.enableServer=false", "4lw.commands.whitelist=srvr", "maxClientCnxns=0", "",
	}, "\n")), 0o600); err != nil {
		return err
	}
	s.Addr = "127.0.0.1:" + port
	err = s.run(ctx, s.servesZooKeeper, java, "-Xmx512m", "-Dzookeeper.extendedTypesEnabled=true",
		"-cp", zookeeperJar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", settings)
	if err != nil {
		return err
	}
	words, err := askZooKeeper(ctx, s.Addr, "srvr")
	_, version, _ := strings.Cut(words, "version: ")
	s.Version, _, _ = strings.Cut(version, "-")
	return err
}

// servesZooKeeper reports whether the server has clients.
func (s *Server) servesZooKeeper(ctx context.Context) bool {
	words, err := askZooKeeper(ctx, s.Addr, "srvr")
	return err == nil && strings.Contains(words, "Mode: ")
}

// askZooKeeper sends one of the commands of four letters.
func askZooKeeper(ctx context.Context, addr, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, command); err != nil {
		return "", err
	}
	words, err := io.ReadAll(conn)
	if len(words) > 0 {
		err = nil // it hangs up in its own way
	}
	return string(words), err
}
