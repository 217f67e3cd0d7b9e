package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// hostile is metadata that rewrites the terminal, forges rows, and says that its lock is free.
func hostile() map[string]string {
	return map[string]string{
		"host":         "eve\x1b[2J\norders/9\texclusive\tadmin",
		"by":           "\x1b]0;owned\x07 \u202egnp \u0085 next",
		"state":        "free",
		"x\x1b[8m\nid": strings.Repeat("long ", 100),
	}
}

// printersOf are the ways in which a lock is printed for people.
func printersOf(info lock.Info) map[string]func(s *system) error {
	view := lockView{info}
	return map[string]func(s *system) error{
		"ls":   func(s *system) error { return s.printLocks(viewsOf([]lock.Info{info})) },
		"show": func(s *system) error { return writeTable(s.stdout, view.rows()) },
		"watch": func(s *system) error {
			w := &watcher{sys: s}
			return w.print(w.changes(viewsOf([]lock.Info{info})))
		},
		"run": func(s *system) error { _, err := s.stdout.WriteString(view.heldBy() + "\n"); return err },
	}
}

// TestPrintedOwnersReleaseNothing: an owner is the key to a release, whoever has it.
func TestPrintedOwnersReleaseNothing(t *testing.T) {
	info := heldWith(t, nil)
	key := info.Holders[0].Owner
	for name, write := range printersOf(info) {
		printed := printedBy(t, write)
		if strings.Contains(printed, key) {
			t.Errorf("%s prints the key:\n%s", name, printed)
		}
		if name != "run" && !strings.Contains(printed, driver.PublicOwner(key)) {
			t.Errorf("%s does not tell owners apart:\n%s", name, printed)
		}
		if strings.Contains(printed, keyInLine) {
			t.Errorf("%s prints the key of who waits:\n%s", name, printed)
		}
		if name == "show" && !strings.Contains(printed, driver.PublicOwner(keyInLine)) {
			t.Errorf("%s does not tell those in line apart:\n%s", name, printed)
		}
	}
}

// TestMetadataRewritesTheTerminal: it is anybody's who may take a lock.
func TestMetadataRewritesTheTerminal(t *testing.T) {
	for name, write := range printersOf(heldWith(t, hostile())) {
		t.Run(name, func(t *testing.T) {
			printed := printedBy(t, write)
			for line := range strings.SplitSeq(strings.TrimSuffix(printed, "\n"), "\n") {
				if line != printableText(line) {
					t.Errorf("control characters in %q", line)
				}
				if strings.HasPrefix(line, "orders/9") || len(line) > 400 {
					t.Errorf("a forged row, or one without an end: %q", line)
				}
			}
			if places := strings.Count("\n"+printed, "\nplace "); name == "show" && places != 1 {
				t.Errorf("%d in line:\n%s", places, printed)
			}
			if states := strings.Count("\n"+printed, "\nstate "); name == "show" && states != 1 {
				t.Errorf("%d states:\n%s", states, printed)
			}
		})
	}
}

// TestAWatchLeavesLocksOutInSilence: it says so once, and again when there were fewer meanwhile.
func TestAWatchLeavesLocksOutInSilence(t *testing.T) {
	const note = "there may be more than the 10000 locks watched"
	for _, test := range []struct {
		found []int // by one look after the other
		notes int
	}{{[]int{1, watchLimit - 1}, 0}, {[]int{watchLimit, watchLimit}, 1}, {[]int{watchLimit, 1, watchLimit}, 2}} {
		printed := printedBy(t, func(s *system) error {
			w := &watcher{sys: s}
			for _, n := range test.found {
				w.look = func(context.Context) ([]lock.Info, error) { return make([]lock.Info, n), nil }
				if err := w.lookOnce(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
		if n := strings.Count(printed, note); n != test.notes {
			t.Errorf("%d found: said %d times, want %d", test.found, n, test.notes)
		}
	}
}

// heldWith describes a lock that was taken with that metadata, and that somebody waits for in line.
func heldWith(t *testing.T, meta map[string]string) lock.Info {
	t.Helper()
	b, err := lockurl.New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	session, err := b.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Stop(context.Background()) })
	if _, err := session.Mutex("a", &lock.MutexOptions{Meta: meta}).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := session.Inspect(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	info.Line = []lock.InLine{{Owner: keyInLine, Since: time.Now(), Meta: meta}}
	return info
}

// keyInLine is the owner of who waits in line for that lock.
const keyInLine = "who waits"

// TestThoseInLineAreWaiting, whether or not they listen; also for a lock that nobody has.
func TestThoseInLineAreWaiting(t *testing.T) {
	held := lockView{heldWith(t, nil)}
	held.Line = append(held.Line, held.Line[0])
	free := lockView{lock.Info{Name: "a", Line: held.Line}}
	listening := held
	listening.Waiting = 3
	for _, test := range []struct {
		view  lockView
		state string
		want  string
	}{{held, "held", "2"}, {free, "free", "2"}, {listening, "held", "3"}} {
		show := printedBy(t, func(s *system) error { return writeTable(s.stdout, test.view.rows()) })
		for _, row := range []string{
			"state " + test.state, "waiting " + test.want, "place 1 -, for ", "place 2 -, for ",
		} {
			if !strings.Contains(strings.Join(strings.Fields(show), " "), row) {
				t.Errorf("want %q in\n%s", row, show)
			}
		}
		for _, line := range test.view.lines() {
			if line[6] != test.want {
				t.Errorf("listed as %q, want %s waiting", line, test.want)
			}
		}
		asJSON := string(test.view.asJSON())
		if n := strings.Count(asJSON, driver.PublicOwner(keyInLine)); n != 2 || strings.Contains(asJSON, keyInLine) {
			t.Errorf("as JSON: %s", asJSON)
		}
	}
}

// printedBy returns what is printed on standard output.
func printedBy(t *testing.T, write func(s *system) error) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := write(&system{stdout: out, stderr: out, output: formatTable}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
