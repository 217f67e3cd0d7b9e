package txns

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/report"
)

func TestWorkloadNamesAreAContract(t *testing.T) {
	want := []string{
		"round-trips-1", "round-trips-64", "durable-writes-64", "saga-1", "saga-16", "saga-64",
		"tcc-64", "tcc-own-tries-64", "msg-64", "functions-64",
		"outage-1000", "outage-100k", "outage-slow", "outage-functions-1000", "outage-functions-100k",
		"beside-hanging-64",
	}
	for _, quick := range []bool{true, false} {
		var got []string
		for _, w := range Workloads(quick) {
			got = append(got, w.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("workloads = %v, want %v", got, want)
		}
	}
}

// measured makes rows of one sample each.
func measured(samples map[string]map[Subject]Sample) []*Row {
	var outcomes []*Outcome
	for workload, subjects := range samples {
		for s, sample := range subjects {
			outcomes = append(outcomes, &Outcome{
				Workload: Workload{Name: workload}, Subject: s, Samples: []Sample{sample},
			})
		}
	}
	return Rows(outcomes)
}

// verdict finds the verdict on a target that begins so.
func verdict(t *testing.T, rows []*Row, target string) report.Verdict {
	t.Helper()
	for _, v := range Verdicts(rows) {
		if strings.HasPrefix(v.Target, target) {
			return v
		}
	}
	t.Fatalf("no verdict on %s", target)
	return report.Verdict{}
}

func TestTargetsThatNeedDTMSaySo(t *testing.T) {
	rows := measured(map[string]map[Subject]Sample{"saga-64": {bedrock("redis"): {Value: 5000, CPU: 0.2, P99: 9}}})
	for _, target := range []string{"saga-64, x dtm-redis", "processor time", "p99"} {
		if v := verdict(t, rows, target); v.Lacks != "needs -dtm redis=URL" || v.Measured != 0 {
			t.Errorf("%s: %+v", target, v)
		}
	}
}

func TestEachStoreIsComparedWithTheDTMOfItsTarget(t *testing.T) {
	boltdb, mariadb := dtmServer(Server{Store: "boltdb"}), dtmServer(Server{Store: "mariadb"})
	rows := measured(map[string]map[Subject]Sample{"saga-64": {
		bedrock("sqlite"): {Value: 8000, CPU: 0.1, P99: 20}, bedrock("postgres"): {Value: 3000},
		boltdb: {Value: 800, CPU: 1, P99: 100}, mariadb: {Value: 1500},
		minimal(): {Value: 16000},
	}})
	for target, want := range map[string]struct {
		measured float64
		reached  bool
	}{
		"saga-64, x dtm-boltdb":  {10, true},
		"saga-64, x dtm-mariadb": {2, false},
		"saga over HTTP":         {0.5, false},
		"processor time":         {0.1, true},
		"p99 of a saga":          {0.2, true},
	} {
		if v := verdict(t, rows, target); v.Measured != want.measured || v.Reached() != want.reached || v.Lacks != "" {
			t.Errorf("%s: %+v, want %+v", target, v, want)
		}
	}
}

func TestFloorsAndReplicasAreComparedWithinTheRun(t *testing.T) {
	rows := measured(map[string]map[Subject]Sample{
		"durable-writes-64": {storeFloor("sqlite"): {Value: 50_000}},
		"functions-64":      {bedrock("sqlite"): {Value: 30_000}},
		"outage-slow": {
			bedrock("mariadb"): {Value: 1000, FirstCall: 1}, pair("mariadb"): {Value: 1400, FirstCall: 1},
		},
		"outage-1000":       {bedrock("sqlite"): {Value: 2999, FirstCall: 3}},
		"beside-hanging-64": {bedrock("sqlite"): {Value: 0.79}},
	})
	for target, reached := range map[string]bool{
		"saga of functions": true, "outage-slow, two replicas": false,
		"outage-1000, seconds": true, "outage-1000, drained": false, "healthy ones": false,
	} {
		if v := verdict(t, rows, target); v.Reached() != reached {
			t.Errorf("%s: %+v, want reached = %v", target, v, reached)
		}
	}
}

func TestJSONHasTheContractedFields(t *testing.T) {
	var text bytes.Buffer
	rows := measured(map[string]map[Subject]Sample{"saga-64": {
		bedrock("sqlite"): {Value: 2, P50: 1, P99: 1, CPU: 1}, minimal(): {Value: 4},
	}})
	if err := JSON(&text, rows); err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	if err := json.Unmarshal(text.Bytes(), &objects); err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object["subject"] != "bedrock-sqlite" {
			continue
		}
		for _, field := range []string{
			"workload", "value", "unit", "p50_us", "p99_us", "cpu_s_per_1000", "ratio_to_minimal", "rounds",
		} {
			if _, found := object[field]; !found {
				t.Errorf("field %s is missing", field)
			}
		}
	}
}

func TestServersAreNamedByTheirStores(t *testing.T) {
	got, err := ParseServers("http://127.0.0.1:36789,redis=http://127.0.0.1:36790")
	want := []Server{{"boltdb", "http://127.0.0.1:36789"}, {"redis", "http://127.0.0.1:36790"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("servers = %v, %v; want %v", got, err, want)
	}
	if _, err := ParseServers("mariadb=here"); err == nil {
		t.Error("an address without a host was accepted")
	}
}
