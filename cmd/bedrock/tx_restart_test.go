//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// TestAWaitEndsWithTheServer: one that is killed and started again goes on with the
// transaction, and so does who waits for its outcome.
func TestAWaitEndsWithTheServer(t *testing.T) {
	t.Parallel()
	called, restarted := make(chan struct{}, 16), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- struct{}{}
		select {
		case <-restarted:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(service.Close)
	dir, addr := t.TempDir(), testenv.Nobody(t)
	file := filepath.Join(dir, "order.yaml")
	text := "mode: saga\nsteps:\n  - {id: a, action: '" + service.URL + "'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *exec.Cmd {
		server, lines := program(t, "serve", "--listen", addr, "--store", "sqlite:"+filepath.Join(dir, "store.db"))
		if !lines.Scan() { // it says what it is when it listens
			t.Fatal("no server")
		}
		return server
	}
	first := start()
	submit, lines := program(t, "tx", "submit", file, "--wait", "--server", "http://"+addr)
	if !lines.Scan() { // the ID: from now on it waits
		t.Fatal("no ID")
	}
	<-called
	_ = first.Process.Kill()
	_ = first.Wait()
	second := start()
	close(restarted)
	if !lines.Scan() || lines.Text() != "committed" {
		t.Errorf("told: %s", lines.Text())
	}
	if err := submit.Wait(); err != nil {
		t.Error(err)
	}
	_ = second.Process.Kill()
	_ = second.Wait()
}
