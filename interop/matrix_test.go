package interop

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// updateFlag has the run write its matrix instead of comparing it.
const updateFlag = "update"

// matrixFile is the matrix as it was last written.
const matrixFile = "../docs/interop-redisson.md"

// What can be shown of an object: the columns of the matrix.
const (
	goWaits         = "Go waits, Java wakes it"
	javaWaits       = "Java waits, Go wakes it"
	excluded        = "each is refused what the other has"
	javaDies        = "Java is killed"
	goDies          = "Go is killed"
	reentered       = "both re-enter"
	inOrder         = "order of arrival"
	tokensRiseBoth  = "tokens rise"
	inspectedByGo   = "Go inspects"
	inspectedByJava = "Java inspects"
)

func columns() []string {
	return []string{
		goWaits, javaWaits, excluded, javaDies, goDies, reentered, inOrder, tokensRiseBoth,
		inspectedByGo, inspectedByJava,
	}
}

// shown is one thing that was shown of an object, somewhere.
type shown struct{ topology, object, what string }

// matrix is what all scenes have shown.
type matrix struct {
	mu       sync.Mutex
	expected int
	rounds   map[shown]map[string]int // by version
	took     map[shown][]time.Duration
	scenes   map[string]map[string]bool // the names of what was played, by where
	versions map[string]map[string]bool // of Redisson, by topology
	count    int
}

func newMatrix() *matrix {
	return &matrix{
		rounds: make(map[shown]map[string]int), took: make(map[shown][]time.Duration),
		scenes: make(map[string]map[string]bool), versions: make(map[string]map[string]bool),
	}
}

// expect says how many scenes there are: fewer make no matrix.
func (m *matrix) expect(n int) { m.expected = n }

// atOnce is the time within which one has the lock who is woken: less than any lease has left, and than it takes Go to
// ask again by itself.
const atOnce = watchdog / 2

// wakeUps is how often somebody is woken in a scene, and how often everything else is done.
const wakeUps = 20

// woke adds wake-ups, and fails the scene if one was not by a message, but by the end of the lease, or by chance.
func (e *together) woke(object, who string, took []time.Duration) {
	e.Helper()
	slices.Sort(took)
	e.Logf("%s: woken after %s (median), %s at most", who, took[len(took)/2], took[len(took)-1])
	if slowest := took[len(took)-1]; slowest > atOnce {
		e.Errorf("%s, %s: somebody was not woken, but had it after %s", object, who, slowest)
	}
	e.shows(object, who, len(took))
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	key := shown{e.topology, object, who}
	e.seen.took[key] = append(e.seen.took[key], took...)
}

// shows adds what a scene has shown, so many times.
func (e *together) shows(object, what string, rounds int) {
	e.Helper()
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	key := shown{e.topology, object, what}
	if e.seen.rounds[key] == nil {
		e.seen.rounds[key] = make(map[string]int)
	}
	e.seen.rounds[key][e.version] += rounds
}

// played says that a scene is over.
func (m *matrix) played(scene string, at *site) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	addTo(m.scenes, at.topology, scene)
	addTo(m.versions, at.topology, at.version)
}

func addTo(sets map[string]map[string]bool, name, member string) {
	if sets[name] == nil {
		sets[name] = make(map[string]bool)
	}
	sets[name][member] = true
}

// compare compares the matrix with the file, or writes that. Scenes that were left out, or failed, say nothing of it.
func (m *matrix) compare(t *testing.T) {
	t.Helper()
	if t.Failed() || m.count != m.expected {
		t.Logf("%d of %d scenes were played: nothing is compared with %s", m.count, m.expected, matrixFile)
		return
	}
	text := m.text()
	if flag.Lookup(updateFlag).Value.String() == "true" {
		if err := os.WriteFile(matrixFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if withoutTimes(string(old)) != withoutTimes(text) {
		t.Errorf("%s is not what was played; write it with go test ./interop -update\n%s", matrixFile, text)
	}
}

// withoutTimes makes all times of a text equal, which no two runs have in common.
func withoutTimes(text string) string {
	return regexp.MustCompile(`\d+ ms`).ReplaceAllString(text, "some ms")
}

// text is the matrix in Markdown.
func (m *matrix) text() string {
	var b strings.Builder
	b.WriteString(preface)
	for _, topology := range sortedNames(m.versions) {
		versions := strings.Join(sortedNames(m.versions[topology]), " and ")
		fmt.Fprintf(&b, "\n## %s, Redisson %s\n\n", capital(topology), versions)
		m.writeShown(&b, topology)
	}
	b.WriteString("\n## Wake-ups\n\n" + aboutWakeUps)
	m.writeWakeUps(&b)
	b.WriteString("\n## Scenes\n")
	for _, topology := range sortedNames(m.scenes) {
		fmt.Fprintf(&b, "\n%s: `%s`.\n", capital(topology), strings.Join(sortedNames(m.scenes[topology]), "` `"))
	}
	return b.String()
}

func (m *matrix) writeShown(b *strings.Builder, topology string) {
	fmt.Fprintf(b, "| object | %s |\n|---%s|\n", strings.Join(columns(), " | "), strings.Repeat("|---", len(columns())))
	for _, object := range m.objectsIn(topology) {
		b.WriteString("| " + object)
		for _, column := range columns() {
			b.WriteString(" | " + m.cell(shown{topology, object, column}))
		}
		b.WriteString(" |\n")
	}
}

func (m *matrix) objectsIn(topology string) []string {
	found := make(map[string]bool)
	for key := range m.rounds {
		if key.topology == topology {
			found[key.object] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// cell is how often something was shown: with each version, or with those that are named.
func (m *matrix) cell(key shown) string {
	byVersion := m.rounds[key]
	if len(byVersion) == 0 {
		return "–"
	}
	var parts []string
	same := len(byVersion) == len(m.versions[key.topology])
	for _, version := range sortedNames(byVersion) {
		same = same && byVersion[version] == byVersion[sortedNames(byVersion)[0]]
		parts = append(parts, fmt.Sprintf("%d with %s", byVersion[version], version))
	}
	if same {
		return fmt.Sprint(byVersion[sortedNames(byVersion)[0]])
	}
	return strings.Join(parts, ", ")
}

func (m *matrix) writeWakeUps(b *strings.Builder) {
	keys := slices.SortedFunc(maps.Keys(m.took), func(x, y shown) int {
		return strings.Compare(x.object+x.topology+x.what, y.object+y.topology+y.what)
	})
	for _, key := range keys {
		took := m.took[key]
		slices.Sort(took)
		fmt.Fprintf(b, "| %s | %s | %s | %d | %d ms | %d ms |\n", key.object, key.topology, key.what, len(took),
			took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds())
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// sortedNames are the keys of a map, in order.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
