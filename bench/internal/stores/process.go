package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// patience bounds how long a server may take to start.
const patience = 30 * time.Second

// run runs a server in the folder until it is stopped, and waits until it answers.
func (s *Server) run(ctx context.Context, answers func(context.Context) bool, command string, args ...string) error {
	log, err := os.Create(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	s.Process = cmd.Process.Pid
	s.stop = func() {
		_ = cmd.Process.Kill() // it has nothing worth an orderly end
		<-gone
	}
	return s.awaitAnswer(ctx, answers, gone)
}

// awaitAnswer returns once the server answers.
func (s *Server) awaitAnswer(ctx context.Context, answers func(context.Context) bool, gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !answers(ctx) {
		select {
		case <-gone:
			return s.lastWords("it has ended")
		case <-ctx.Done():
			return s.lastWords("it does not answer")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// lastWords says what is wrong, with the end of the server's log.
func (s *Server) lastWords(problem string) error {
	const most = 1000
	text, err := os.ReadFile(filepath.Join(s.dir, "server.log"))
	return errors.Join(fmt.Errorf("%s: %s", problem, text[max(0, len(text)-most):]), err)
}

// findProgram finds a program that was built into the bin folder of a folder around this one, or is on the path.
func findProgram(name string) (string, error) {
	for dir, err := os.Getwd(); err == nil; dir = filepath.Dir(dir) {
		if path, err := exec.LookPath(filepath.Join(dir, "bin", name)); err == nil && dir != "/" {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (make servers)", err)
	}
	return path, nil
}
