package testenv_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// page runs a script and asks for the same page under a name that would lead
// here, too, if names other than our own were looked up.
const page = `<!DOCTYPE html><body><p id="here"></p><p id="there"></p><script>
	document.getElementById("here").textContent = 6 * 7
	const there = text => document.getElementById("there").textContent = text
	fetch("http://elsewhere.localhost:" + location.port).then(() => there("reached"), () => there("out of reach"))
</script></body>`

func TestChromiumRunsScriptsAndStaysHere(t *testing.T) {
	t.Parallel()
	browser := testenv.Chromium(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = w.Write([]byte(page))
	}))
	defer server.Close()
	start := time.Now()
	args := append(testenv.ChromiumFlags(t.TempDir()), "--virtual-time-budget=5000", "--dump-dom", server.URL)
	command := exec.Command(browser, args...)
	command.Env = append(os.Environ(), "TMPDIR="+testenv.ShortTemp(t))
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("page shown after %v", time.Since(start))
	for _, want := range []string{`<p id="here">42</p>`, `<p id="there">out of reach</p>`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("page lacks %s:\n%s", want, out)
		}
	}
}
