package interop

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// patience is how long a peer may take to answer.
const patience = 30 * time.Second

// java is a running program with Redisson's locks.
type java struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer

	mu      sync.Mutex
	last    int
	answers map[string]chan string
}

// startJava starts interop/redisson/Peer.java with a version of Redisson.
func startJava(t *testing.T, jars string, server *testenv.RedisServer, watchdog time.Duration) *java {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Program(t, "java", "package default-jdk-headless"),
		"-cp", filepath.Join(jars, "*"), "redisson/Peer.java",
		"redis://"+server.Addr(), strconv.FormatInt(watchdog.Milliseconds(), 10))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j := &java{t: t, cmd: cmd, in: in, answers: map[string]chan string{"ready": make(chan string, 1)}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		j.read(out)
	}()
	t.Cleanup(func() {
		_ = in.Close() // ends the program
		<-read
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(complaints.String())
		}
	})
	j.await("ready")
	return j
}

// read hands out the answers until the program ends.
func (j *java) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		id, answer, _ := strings.Cut(lines.Text(), " ")
		j.mu.Lock()
		waiting := j.answers[id]
		j.mu.Unlock()
		if waiting != nil {
			waiting <- answer
		}
	}
}

// begin sends a command to one of the program's threads.
func (j *java) begin(thread, command, name string, argument any) (id string) {
	j.t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	id = strconv.Itoa(j.last)
	j.answers[id] = make(chan string, 1)
	if _, err := fmt.Fprintln(j.in, id, thread, command, name, argument); err != nil {
		j.t.Fatal(err)
	}
	return id
}

// answerTo returns where the answer to a command comes.
func (j *java) answerTo(id string) <-chan string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.answers[id]
}

// await returns the answer to a command.
func (j *java) await(id string) string {
	j.t.Helper()
	select {
	case answer := <-j.answerTo(id):
		return answer
	case <-time.After(patience):
		j.t.Fatalf("no answer to %q", id)
		return ""
	}
}

// answered reports whether a command is answered, and nobody has taken the answer.
func (j *java) answered(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.answers[id]) > 0
}

// do sends a command and returns its answer.
func (j *java) do(thread, command, name string, argument any) string {
	j.t.Helper()
	return j.await(j.begin(thread, command, name, argument))
}

// want sends a command and checks its answer.
func (j *java) want(answer, thread, command, name string, argument any) {
	j.t.Helper()
	if got := j.do(thread, command, name, argument); got != answer {
		j.t.Errorf("java: %s %s: got %q, want %q", command, name, got, answer)
	}
}

// kill ends the program without a chance to release anything.
func (j *java) kill() {
	j.t.Helper()
	if err := j.cmd.Process.Kill(); err != nil {
		j.t.Fatal(err)
	}
}

// redissonJars fetches a version of Redisson and what it needs.
func redissonJars(t *testing.T, version string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	cmd := exec.CommandContext(t.Context(), testenv.Program(t, "mvn", "package maven"),
		"-q", "-B", "-f", "redisson/pom.xml", "-Dredisson.version="+version,
		"dependency:copy-dependencies", "-DoutputDirectory="+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("fetch redisson %s: %v\n%s", version, err, out)
	}
	return folder
}
