package interop

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// patience is how long a peer may take to answer.
const patience = 30 * time.Second

// java is a running program with Redisson's locks, as one test sees it.
type java struct {
	*testing.T
	*javaProcess
}

// javaProcess is that program. A scene may have it for itself, or it is that of several.
type javaProcess struct {
	cmd *exec.Cmd
	in  io.Writer

	mu      sync.Mutex
	last    int
	answers map[string]chan string
}

// startJava starts a program that uses the servers of a site.
func startJava(t *testing.T, program *peerProgram, at *site) *java {
	t.Helper()
	arguments := program.arguments(at.uris(), strconv.FormatInt(watchdog.Milliseconds(), 10), at.javaPublishes)
	cmd := exec.CommandContext(t.Context(), testenv.Program(t, "java", "package default-jdk-headless"), arguments...)
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
	j := &java{t, &javaProcess{cmd: cmd, in: in, answers: map[string]chan string{"ready": make(chan string, 1)}}}
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
func (j *javaProcess) read(out io.Reader) {
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
	j.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	id = strconv.Itoa(j.last)
	j.answers[id] = make(chan string, 1)
	if _, err := fmt.Fprintln(j.in, id, thread, command, name, argument); err != nil {
		j.Fatal(err)
	}
	return id
}

// answerTo returns where the answer to a command comes.
func (j *javaProcess) answerTo(id string) <-chan string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.answers[id]
}

// await returns the answer to a command.
func (j *java) await(id string) string {
	j.Helper()
	select {
	case answer := <-j.answerTo(id):
		return answer
	case <-time.After(patience):
		j.Fatalf("no answer to %q", id)
		return ""
	}
}

// answersAtOnce checks that somebody who waits is woken now.
func (j *java) answersAtOnce(id string) {
	j.Helper()
	select {
	case answer := <-j.answerTo(id):
		if answer != "true" {
			j.Fatalf("java got %q", answer)
		}
	case <-time.After(atOnce):
		j.Fatal("java is not woken")
	}
}

// answered reports whether a command is answered, and nobody has taken the answer.
func (j *javaProcess) answered(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.answers[id]) > 0
}

// do sends a command and returns its answer.
func (j *java) do(thread, command, name string, argument any) string {
	j.Helper()
	return j.await(j.begin(thread, command, name, argument))
}

// want sends a command and checks its answer.
func (j *java) want(answer, thread, command, name string, argument any) {
	j.Helper()
	if got := j.do(thread, command, name, argument); got != answer {
		j.Errorf("java: %s %s: got %q, want %q", command, name, got, answer)
	}
}

// kill ends the program without a chance to release anything.
func (j *java) kill() {
	j.Helper()
	if err := j.cmd.Process.Kill(); err != nil {
		j.Fatal(err)
	}
}
