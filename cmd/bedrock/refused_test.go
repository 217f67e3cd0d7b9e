package main

import (
	"bufio"
	"database/sql"
	"net/url"
	"os/exec"
	"regexp"
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
	execute(t, admin, "CREATE ROLE weak LOGIN PASSWORD 'weak'",
		"GRANT "+rights+" ON ALL TABLES IN SCHEMA public TO weak")
	weak, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	weak.User = url.UserPassword("weak", "weak")
	return weak.String()
}

// execute runs statements in a database.
func execute(t *testing.T, url string, statements ...string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
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

// A lock is lost whose renewals the database refuses, or whose connection it ends: that is the reason.
func TestTheReasonOfALossIsNotTold(t *testing.T) {
	t.Parallel()
	admin := postgres(t)
	weak := withRole(t, admin, "SELECT, INSERT, UPDATE, DELETE")
	execute(t, admin, "GRANT CREATE ON SCHEMA public TO weak") // the profile's table
	for _, c := range []struct{ profile, statement, want string }{
		{
			"advisory", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'weak'",
			`\(lost: its connection has ended: .*terminating connection due to administrator command.*\)\n$`,
		},
		{
			"rows", "REVOKE UPDATE ON bedrock_locks FROM weak",
			`\(lost: not renewed in time: .*permission denied for table bedrock_locks.*\)\n$`,
		},
	} {
		cmd := exec.CommandContext(t.Context(), "bedrock", "lock", "run", c.profile, "--ttl", "1s",
			"--backend", weak+"&profile="+c.profile, "--", "sh", "-c", "echo 1; exec sleep 60")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		nextInt(t, bufio.NewScanner(out)) // the command has the lock
		execute(t, admin, c.statement)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitLost {
			t.Errorf("%s: exit code %d, want %d", c.profile, code, exitLost)
		}
		if told := said.String(); strings.Count(told, "\n") != 1 || !regexp.MustCompile(c.want).MatchString(told) {
			t.Errorf("%s: told: %s", c.profile, told)
		}
	}
}
