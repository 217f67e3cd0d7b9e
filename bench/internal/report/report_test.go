package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/report"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// measured makes an outcome with one sample for each value.
func measured(w locks.Workload, s subject.Subject, values ...float64) *locks.Outcome {
	o := &locks.Outcome{Workload: w, Subject: s}
	for _, v := range values {
		o.Samples = append(o.Samples, locks.Sample{locks.Value: v, locks.P50: v, locks.P99: v})
	}
	return o
}

// The cast of the tests.
func ours() subject.Subject {
	return subject.Subject{Name: "ours", Role: subject.Bedrock, Client: "goredis"}
}

func peer(name string) subject.Subject {
	return subject.Subject{Name: name, Role: subject.Peer, Client: "goredis"}
}

func raw(client string) subject.Subject {
	return subject.Subject{Name: "raw-" + client, Role: subject.Raw, Client: client}
}

func TestRatiosPointTheRightWay(t *testing.T) {
	for _, c := range []struct {
		name  string
		lower bool
		best  string
		ratio float64
	}{
		{"the best rate is the highest", false, "fast", 2},
		{"the best time is the lowest", true, "slow", 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := locks.Workload{Name: "w", Lower: c.lower}
			rows := report.Rows([]*locks.Outcome{
				measured(w, ours(), 1000), measured(w, peer("slow"), 50), measured(w, peer("fast"), 500),
			})
			if rows[0].BestPeer != c.best || !near(rows[0].RatioToBestPeer, c.ratio) {
				t.Errorf("best peer %s, ratio %v; want %s, %v",
					rows[0].BestPeer, *rows[0].RatioToBestPeer, c.best, c.ratio)
			}
		})
	}
}

func TestRawIsComparedOnTheSameClient(t *testing.T) {
	w := locks.Workload{Name: "w"}
	rows := report.Rows([]*locks.Outcome{
		measured(w, ours(), 90), measured(w, raw("goredis"), 100), measured(w, raw("rueidis"), 300),
	})
	if !near(rows[0].RatioToRaw, 0.9) {
		t.Errorf("ratio to raw = %v, want 0.9", *rows[0].RatioToRaw)
	}
	if rows[0].RatioToBestPeer != nil {
		t.Error("a raw client was taken for a peer")
	}
}

// TestRedissonIsComparedApart from the peers of Go.
func TestRedissonIsComparedApart(t *testing.T) {
	w := locks.Workload{Name: "rw-4x16"}
	verdicts := report.Verdicts(report.Rows([]*locks.Outcome{
		measured(w, ours(), 120), measured(w, peer("p"), 10),
		measured(w, subject.Subject{Name: "java", Role: subject.Java}, 60),
	}))
	if len(verdicts) != 2 || verdicts[0].Measured != 12 || verdicts[1].Measured != 2 ||
		!verdicts[0].Reached() || verdicts[1].Reached() {
		t.Errorf("verdicts = %+v, want one of 12 to the peer, reached, and one of 2 to Redisson, missed", verdicts)
	}
}

// TestWhatIsMadeOfMutexesIsComparedWithThese on the same client.
func TestWhatIsMadeOfMutexesIsComparedWithThese(t *testing.T) {
	w := locks.Workload{Name: "w"}
	other := ours()
	other.Client = "rueidis"
	rows := report.Rows([]*locks.Outcome{
		measured(w, subject.Subject{Name: "made", Role: subject.Made, Client: "goredis"}, 30),
		measured(w, ours(), 20), measured(w, other, 10),
	})
	if !near(rows[0].RatioToPlain, 1.5) {
		t.Errorf("ratio = %v, want 1.5", rows[0].RatioToPlain)
	}
	if rows[1].RatioToPlain != nil || rows[0].RatioToRedisson != nil {
		t.Error("a ratio to what it is itself, or to what was not measured")
	}
}

func TestWorkloadsAreNotMixed(t *testing.T) {
	rows := report.Rows([]*locks.Outcome{
		measured(locks.Workload{Name: "a"}, ours(), 10), measured(locks.Workload{Name: "b"}, peer("p"), 10),
	})
	if rows[0].RatioToBestPeer != nil {
		t.Error("a peer of another workload was compared")
	}
}

func TestValuesAreMediansOfTheRounds(t *testing.T) {
	rows := report.Rows([]*locks.Outcome{measured(locks.Workload{Name: "w"}, ours(), 1, 100, 3)})
	if rows[0].Value != 3 || rows[0].Rounds != 3 {
		t.Errorf("value %v of %d rounds, want 3 of 3", rows[0].Value, rows[0].Rounds)
	}
}

func TestWhatWasNotMeasuredHasNoRow(t *testing.T) {
	if rows := report.Rows([]*locks.Outcome{measured(locks.Workload{Name: "w"}, ours())}); len(rows) != 0 {
		t.Errorf("%d rows, want none", len(rows))
	}
}

func TestJSONHasTheContractedFields(t *testing.T) {
	var text bytes.Buffer
	rows := report.Rows([]*locks.Outcome{measured(locks.Workload{Name: "handoff", Unit: "us"}, ours(), 5)})
	if err := report.JSON(&text, rows); err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	if err := json.Unmarshal(text.Bytes(), &objects); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"workload", "subject", "value", "unit", "p50_us", "p99_us", "ratio_to_best_peer", "ratio_to_raw",
	} {
		if _, found := objects[0][field]; !found {
			t.Errorf("field %s is missing", field)
		}
	}
}

func TestJSONOfNothingIsAnEmptyArray(t *testing.T) {
	var text bytes.Buffer
	if err := report.JSON(&text, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(text.String()); got != "[]" {
		t.Errorf("got %s, want []", got)
	}
}

func TestVerdictsKnowTheirDirection(t *testing.T) {
	for _, c := range []struct {
		v    report.Verdict
		want bool
	}{
		{report.Verdict{Measured: 1.1, Limit: 1.15, AtMost: true}, true},
		{report.Verdict{Measured: 1.2, Limit: 1.15, AtMost: true}, false},
		{report.Verdict{Measured: 30, Limit: 25}, true},
		{report.Verdict{Measured: 24, Limit: 25}, false},
	} {
		if got := c.v.Reached(); got != c.want {
			t.Errorf("%+v reached: %v, want %v", c.v, got, c.want)
		}
	}
}

// TestVerdictsJudgeTimesAgainstPeers on the same client, the quickest of them.
func TestVerdictsJudgeTimesAgainstPeers(t *testing.T) {
	w := locks.Workload{Name: "uncontended-1"}
	verdicts := report.Verdicts(report.Rows([]*locks.Outcome{
		measured(w, ours(), 130), measured(w, raw("goredis"), 70),
		measured(w, peer("slow"), 300), measured(w, peer("quick"), 100),
	}))
	if len(verdicts) != 1 || verdicts[0].Measured != 1.3 || verdicts[0].Reached() {
		t.Errorf("verdicts = %+v, want one of 1.3, missed", verdicts)
	}
}

// TestVerdictsJudgeSeveralServersAgainstOne and against the others' Redlock.
func TestVerdictsJudgeSeveralServersAgainstOne(t *testing.T) {
	several := func(role subject.Role) subject.Subject {
		return subject.Subject{Name: "ours-several", Role: role, Client: "goredis"}
	}
	w := locks.Workload{Name: "several-1"}
	verdicts := report.Verdicts(report.Rows([]*locks.Outcome{
		measured(w, ours(), 100), measured(w, several(subject.Quorum), 140),
		measured(w, several(subject.Combination), 340), measured(w, peer("redlock"), 200),
	}))
	want := []float64{1.4, 0.7, 3.4}
	if len(verdicts) != len(want) {
		t.Fatalf("verdicts = %+v, want %d", verdicts, len(want))
	}
	for i, v := range verdicts {
		if !near(&v.Measured, want[i]) || v.Reached() != (i == 0) {
			t.Errorf("verdict %+v, reached %v; want %v, the first alone reached", v, v.Reached(), want[i])
		}
	}
}

// on puts a subject on another store.
func on(store subject.Store, s subject.Subject) subject.Subject {
	s.Store = store
	return s
}

// TestStoresAreNotMixed: the rows of one store are compared with each other, and have its targets.
func TestStoresAreNotMixed(t *testing.T) {
	w := locks.Workload{Name: "contended-64"}
	rows := report.Rows([]*locks.Outcome{
		measured(w, ours(), 1000), measured(w, peer("redis"), 10),
		measured(w, on(subject.Etcd, ours()), 300), measured(w, on(subject.Etcd, peer("etcd")), 20),
	})
	if !near(rows[0].RatioToBestPeer, 100) || !near(rows[2].RatioToBestPeer, 15) || rows[2].BestPeer != "etcd" {
		t.Errorf("ratios %v and %v to %s, want 100 and 15", rows[0].RatioToBestPeer, rows[2].RatioToBestPeer,
			rows[2].BestPeer)
	}
	verdicts := slices.DeleteFunc(report.Verdicts(rows), func(v report.Verdict) bool { return v.Limit != 20 })
	if len(verdicts) != 1 || verdicts[0].Measured != 15 || verdicts[0].Reached() {
		t.Errorf("verdicts = %+v, want one of etcd, missed", verdicts)
	}
	var text bytes.Buffer
	if err := report.Table(&text, rows); err != nil || !strings.Contains(text.String(), "contended-64 on etcd") {
		t.Errorf("table = %v\n%s", err, text.String())
	}
	text.Reset()
	want := "### Locks on etcd\n\n| workload | subject |"
	if err := report.Markdown(&text, rows, verdicts); err != nil || !strings.Contains(text.String(), want) {
		t.Errorf("document = %v\n%s", err, text.String())
	}
}

// TestHandoffsAreHeldAgainstARoundTrip of the same client, measured by itself.
func TestHandoffsAreHeldAgainstARoundTrip(t *testing.T) {
	ping := subject.Subject{Name: "ping", Role: subject.Ping, Client: "goredis"}
	verdicts := report.Verdicts(report.Rows([]*locks.Outcome{
		measured(locks.Workload{Name: "handoff", Lower: true}, on(subject.Postgres, ours()), 1000),
		measured(locks.Workload{Name: "round-trip"}, on(subject.Postgres, ping), 250),
		measured(locks.Workload{Name: "round-trip"}, on(subject.MariaDB, ping), 1),
	}))
	if len(verdicts) != 1 || verdicts[0].Measured != 4 || verdicts[0].Reached() {
		t.Errorf("verdicts = %+v, want one of 4, missed", verdicts)
	}
}

func near(got *float64, want float64) bool {
	return got != nil && math.Abs(*got-want) < 1e-9
}
