//go:build unix

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestASignalDuringTheGraceIsForTheCommandOnly: it has lost its lock, and hears of the signal while it ends. Whoever
// would campaign again hears of it, too.
func TestASignalDuringTheGraceIsForTheCommandOnly(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	session := openMemory(t)
	defer session.Stop(context.Background())
	lease, err := session.Mutex("a", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	output, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	defer out.Close()
	r := (&system{stdin: out, stdout: out, stderr: out}).newRunner(t.Context(), sh, []string{"-c", `
		trap 'echo heard TERM' TERM; trap 'exit 3' INT
		echo ready; while :; do sleep 0.05; done`}, time.Minute)
	defer r.stop()
	ended := make(chan error, 1)
	go func() {
		_, err := r.runUnder(lease)
		ended <- err
	}()
	lines := bufio.NewScanner(output)
	for _, want := range []string{"ready", "heard TERM"} {
		for lines.Scan() && lines.Text() != want { // shells tell who was ended besides
		}
		if want == "ready" {
			if _, err := session.ForceRelease(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.signals <- syscall.SIGINT
	if err := <-ended; !isLost(err) {
		t.Errorf("the command has ended with %v", err)
	}
	select {
	case s := <-r.signals:
		if s != syscall.SIGINT {
			t.Errorf("heard of %v", s)
		}
	default:
		t.Error("nobody but the command has heard of the signal")
	}
}
