package peer

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// Patience is how long a program may take to answer.
const Patience = 30 * time.Second

// Java is a running program, as one test sees it.
type Java struct {
	*testing.T
	*Process
}

// Process is that program. A test may have it for itself, or it is that of several.
type Process struct {
	cmd *exec.Cmd
	in  io.Writer
	// silent is closed when the program says nothing any more.
	silent chan struct{}

	mu      sync.Mutex
	last    int
	answers map[string]chan string
}

// Start starts a program, until the test ends.
func Start(t *testing.T, program *Program, arguments ...string) *Java {
	t.Helper()
	java := testenv.Program(t, "java", jdk)
	cmd := exec.CommandContext(t.Context(), java, slices.Concat(program.flags(), arguments)...)
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
	j := &Java{t, &Process{
		cmd: cmd, in: in, silent: make(chan struct{}),
		answers: map[string]chan string{"ready": make(chan string, 1)},
	}}
	go func() {
		defer close(j.silent)
		j.read(out)
	}()
	t.Cleanup(func() {
		_ = in.Close() // ends the program
		<-j.silent
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(complaints.String())
		}
	})
	j.Await("ready")
	return j
}

// In returns the program as a part of another test, which does not end it: to start one costs more than most
// scenes do.
func (j *Java) In(t *testing.T) *Java { return &Java{t, j.Process} }

// read hands out the answers until the program ends.
func (j *Process) read(out io.Reader) {
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

// Begin sends a command to one of the program's threads.
func (j *Java) Begin(thread, command, name string, argument any) (id string) {
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

// AnswerTo returns where the answer to a command comes.
func (j *Process) AnswerTo(id string) <-chan string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.answers[id]
}

// Await returns the answer to a command.
func (j *Java) Await(id string) string {
	j.Helper()
	select {
	case answer := <-j.AnswerTo(id):
		return answer
	case <-time.After(Patience):
		j.Fatalf("no answer to %q", id)
		return ""
	}
}

// AnswersWithin checks that a command is answered by true, and how soon: somebody who waits is woken.
func (j *Java) AnswersWithin(d time.Duration, id string) {
	j.Helper()
	select {
	case answer := <-j.AnswerTo(id):
		if answer != "true" {
			j.Fatalf("java got %q", answer)
		}
	case <-time.After(d):
		j.Fatal("java is not woken")
	}
}

// Answered reports whether a command is answered, and nobody has taken the answer.
func (j *Process) Answered(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.answers[id]) > 0
}

// Do sends a command and returns its answer.
func (j *Java) Do(thread, command, name string, argument any) string {
	j.Helper()
	return j.Await(j.Begin(thread, command, name, argument))
}

// Want sends a command and checks its answer.
func (j *Java) Want(answer, thread, command, name string, argument any) {
	j.Helper()
	if got := j.Do(thread, command, name, argument); got != answer {
		j.Errorf("java: %s %s: got %q, want %q", command, name, got, answer)
	}
}

// Kill ends the program without a chance to release anything, and waits until it is gone.
func (j *Java) Kill() {
	j.Helper()
	if err := j.cmd.Process.Kill(); err != nil {
		j.Fatal(err)
	}
	<-j.silent
	_ = j.cmd.Wait() // it was killed
}
