// Package matrix writes down what was seen of two libraries side by side, and compares it with a page of the documents.
package matrix

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// UpdateFlag has the run write its matrix instead of comparing it.
const UpdateFlag = "update"

// What can be shown of an object: the columns of the matrix.
const (
	GoWaits         = "Go waits, Java wakes it"
	JavaWaits       = "Java waits, Go wakes it"
	Excluded        = "each is refused what the other has"
	JavaDies        = "Java is killed"
	GoDies          = "Go is killed"
	Reentered       = "both re-enter"
	InOrder         = "order of arrival"
	TokensRise      = "tokens rise"
	InspectedByGo   = "Go inspects"
	InspectedByJava = "Java inspects"
	Shared          = "both read" // stands only where it was shown
)

func (m *Matrix) columns() []string {
	all := []string{
		GoWaits, JavaWaits, Excluded, JavaDies, GoDies, Reentered, InOrder, TokensRise,
		InspectedByGo, InspectedByJava,
	}
	for key := range m.rounds {
		if key.what == Shared {
			return append(all, Shared)
		}
	}
	return all
}

// shown is one thing that was shown of an object, somewhere.
type shown struct{ topology, object, what string }

// Place is where something was shown.
type Place struct {
	Topology string // of the servers
	Version  string // of the other library
}

// Matrix is what all scenes have shown.
type Matrix struct {
	Library string // the other one
	File    string // what it is compared with
	Preface string // stands before the tables
	// AtOnce is the time within which one has the lock who is woken: less than any lease has left.
	AtOnce time.Duration
	// Scenes is how many there are: fewer make no matrix.
	Scenes int
	// Titles are what columns are called here that are called otherwise beside Java.
	Titles map[string]string

	mu       sync.Mutex
	rounds   map[shown]map[string]int // by version
	took     map[shown][]time.Duration
	over     map[shown][]time.Duration  // what the dead had
	scenes   map[string]map[string]bool // the names of what was played, by where
	versions map[string]map[string]bool // of the library, by topology
	count    int
}

// Woke adds wake-ups, and fails the scene if one took longer than AtOnce: it was not by a message, but by the end of a
// lease, or by chance.
func (m *Matrix) Woke(t testing.TB, at Place, object, who string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	t.Logf("%s: woken after %s (median), %s at most", who, took[len(took)/2], took[len(took)-1])
	if slowest := took[len(took)-1]; slowest > m.AtOnce {
		t.Errorf("%s, %s: somebody was not woken, but had it after %s", object, who, slowest)
	}
	m.Show(at, object, who, len(took))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.took == nil {
		m.took = make(map[shown][]time.Duration)
	}
	key := shown{at.Topology, object, who}
	m.took[key] = append(m.took[key], took...)
}

// TookOver adds how long it took until one had what a dead one had, and fails the scene if that was longer than limit.
func (m *Matrix) TookOver(t testing.TB, at Place, object, who string, took, limit time.Duration) {
	t.Helper()
	if took > limit {
		t.Errorf("%s, %s: it took %s", object, who, took)
	}
	m.Show(at, object, who, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over == nil {
		m.over = make(map[shown][]time.Duration)
	}
	key := shown{at.Topology, object, who}
	m.over[key] = append(m.over[key], took)
}

// titleOf is what a column is called.
func (m *Matrix) titleOf(column string) string {
	if title, ok := m.Titles[column]; ok {
		return title
	}
	return column
}

// Show adds what a scene has shown, so many times.
func (m *Matrix) Show(at Place, object, what string, rounds int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rounds == nil {
		m.rounds = make(map[shown]map[string]int)
	}
	key := shown{at.Topology, object, what}
	if m.rounds[key] == nil {
		m.rounds[key] = make(map[string]int)
	}
	m.rounds[key][at.Version] += rounds
}

// Played says that a scene is over.
func (m *Matrix) Played(scene string, at Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scenes == nil {
		m.scenes, m.versions = make(map[string]map[string]bool), make(map[string]map[string]bool)
	}
	m.count++
	addTo(m.scenes, at.Topology, scene)
	addTo(m.versions, at.Topology, at.Version)
}

func addTo(sets map[string]map[string]bool, name, member string) {
	if sets[name] == nil {
		sets[name] = make(map[string]bool)
	}
	sets[name][member] = true
}

// Compare compares the matrix with the file, or writes that. Scenes that were left out, or failed, say nothing of it.
func (m *Matrix) Compare(t *testing.T) {
	t.Helper()
	if t.Failed() || m.count != m.Scenes {
		t.Logf("%d of %d scenes were played: nothing is compared with %s", m.count, m.Scenes, m.File)
		return
	}
	text := m.text()
	if flag.Lookup(UpdateFlag).Value.String() == "true" {
		if err := os.WriteFile(m.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	if withoutTimes(string(old)) != withoutTimes(text) {
		t.Errorf("%s is not what was played; write it with -update\n%s", m.File, text)
	}
}

// withoutTimes makes all times of a text equal, which no two runs have in common.
func withoutTimes(text string) string {
	return regexp.MustCompile(`\d+ ms`).ReplaceAllString(text, "some ms")
}

// text is the matrix in Markdown.
func (m *Matrix) text() string {
	var b strings.Builder
	b.WriteString(m.Preface)
	for _, topology := range sortedNames(m.versions) {
		versions := strings.Join(sortedNames(m.versions[topology]), " and ")
		fmt.Fprintf(&b, "\n## %s, %s %s\n\n", capital(topology), m.Library, versions)
		m.writeShown(&b, topology)
	}
	fmt.Fprintf(&b, "\n## Wake-ups\n\n"+aboutWakeUps, m.AtOnce)
	m.writeTimes(&b, m.took)
	if len(m.over) > 0 {
		b.WriteString("\n## Take-overs\n\n" + aboutTakeOvers)
		m.writeTimes(&b, m.over)
	}
	b.WriteString("\n## Scenes\n")
	for _, topology := range sortedNames(m.scenes) {
		fmt.Fprintf(&b, "\n%s: `%s`.\n", capital(topology), strings.Join(sortedNames(m.scenes[topology]), "` `"))
	}
	return b.String()
}

func (m *Matrix) writeShown(b *strings.Builder, topology string) {
	columns := m.columns()
	b.WriteString("| object")
	for _, column := range columns {
		b.WriteString(" | " + m.titleOf(column))
	}
	fmt.Fprintf(b, " |\n|---%s|\n", strings.Repeat("|---", len(columns)))
	for _, object := range m.objectsIn(topology) {
		b.WriteString("| " + object)
		for _, column := range columns {
			b.WriteString(" | " + m.cell(shown{topology, object, column}))
		}
		b.WriteString(" |\n")
	}
}

func (m *Matrix) objectsIn(topology string) []string {
	found := make(map[string]bool)
	for key := range m.rounds {
		if key.topology == topology {
			found[key.object] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// cell is how often something was shown: with each version, or with those that are named.
func (m *Matrix) cell(key shown) string {
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
		return strconv.Itoa(byVersion[sortedNames(byVersion)[0]])
	}
	return strings.Join(parts, ", ")
}

func (m *Matrix) writeTimes(b *strings.Builder, times map[shown][]time.Duration) {
	keys := slices.SortedFunc(maps.Keys(times), func(x, y shown) int {
		return strings.Compare(x.object+x.topology+x.what, y.object+y.topology+y.what)
	})
	for _, key := range keys {
		took := times[key]
		slices.Sort(took)
		who := m.titleOf(key.what)
		fmt.Fprintf(b, "| %s | %s | %s | %d | %d ms | %d ms |\n", key.object, key.topology, who, len(took),
			took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds())
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// sortedNames are the keys of a map, in order.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

const aboutWakeUps = `From the moment before a release to the moment at which the other process knows that it has the
lock. The scene fails if one of them takes longer than %s. No lease ends so soon, so nobody was served by the end of
one. Measured by the run that wrote this, beside other work on two processors, all versions together.

| object | where | who | wake-ups | median | longest |
|---|---|---|---|---|---|
`

const aboutTakeOvers = `From the end of a process that had the lock to the moment at which the other side has it: when
the lease, or the session, of the dead one is over, which it may just have renewed.

| object | where | who | times | median | longest |
|---|---|---|---|---|---|
`
