package child

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Listening returns the process of this machine that listens at a loopback
// address, if there is one that we may look into.
func Listening(addr string) (pid int, found bool) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, false
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return 0, false
	}
	socket, found := socketOf(number)
	if !found {
		return 0, false
	}
	return ownerOf(socket)
}

// socketOf finds the socket that listens on a port, by its inode.
func socketOf(port int) (socket string, found bool) {
	const local, state, inode, listening = 1, 3, 9, "0A"
	want := ":" + strings.ToUpper(hex.EncodeToString([]byte{byte(port >> 8), byte(port)}))
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > inode && f[state] == listening && strings.HasSuffix(f[local], want) {
				return fmt.Sprintf("socket:[%s]", f[inode]), true
			}
		}
	}
	return "", false
}

// ownerOf finds the process that has a socket open.
func ownerOf(socket string) (pid int, found bool) {
	files, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, false
	}
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil && target == socket {
			pid, err := strconv.Atoi(strings.Split(file, "/")[2])
			return pid, err == nil
		}
	}
	return 0, false
}
