package main

import (
	"database/sql"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// withRole returns the URL of a database for a new role that may do so much with the tables of locks, which are made.
func withRole(t *testing.T, admin, rights string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bedrock", "doctor", "--backend", admin).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	db, err := sql.Open("pgx", admin)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const role = "CREATE ROLE weak LOGIN PASSWORD 'weak'"
	for _, statement := range []string{role, "GRANT " + rights + " ON ALL TABLES IN SCHEMA public TO weak"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	weak, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	weak.User = url.UserPassword("weak", "weak")
	return weak.String()
}

// A release that the database refuses leaves the lock where it is, for as long as its time lasts, and the code is that
// of the command all the same.
func TestARefusedReleaseIsNotToldAtTheEnd(t *testing.T) {
	t.Parallel()
	weak := withRole(t, postgres(t), "SELECT, INSERT, UPDATE")
	for name, command := range map[string][]string{
		"run":    {"lock", "run", "run", "--shared", "--", "sh", "-c", "exit 7"},
		"killed": {"lock", "run", "killed", "--shared", "--max-hold", "10ms", "--", "sleep", "60"},
	} {
		cmd := exec.CommandContext(t.Context(), "bedrock", append([]string{"--backend", weak}, command...)...)
		var said strings.Builder
		cmd.Stderr = &said
		_ = cmd.Run()
		code := map[string]int{"run": 7, "killed": exitLost}[name]
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: exit code %d, want %d", name, got, code)
		}
		for _, want := range []string{
			`warning: lock "` + name + `" was not given back: `, "permission denied", "when its --ttl is over",
		} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("%s: not told: %s; told: %s", name, want, said.String())
			}
		}
		if strings.Contains(said.String(), "was given back") {
			t.Errorf("%s: told: %s", name, said.String())
		}
	}
}
