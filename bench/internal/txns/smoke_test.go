package txns

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hasty is as little as can be measured.
func hasty() pace {
	return pace{
		warm: 10 * time.Millisecond, length: 50 * time.Millisecond, hold: 10 * time.Millisecond,
		rounds: 1, many: 200,
	}
}

// smoke measures in haste and wants a value everywhere.
func smoke(t *testing.T, s *Suite, subjects int) []*Row {
	t.Helper()
	s.workloads = workloads(hasty())
	for i := range s.workloads {
		s.workloads[i].longest = time.Minute // what is lost is not waited for as long as in earnest
	}
	outcomes, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Errorf("%s of %s: %v", o.Workload.Name, o.Subject.Name, o.Err)
		} else if m := o.Median(); m[Value] <= 0 {
			t.Errorf("%s of %s: %v", o.Workload.Name, o.Subject.Name, m)
		}
	}
	if len(outcomes) != subjects {
		t.Errorf("%d outcomes, want %d", len(outcomes), subjects)
	}
	return Rows(outcomes)
}

func TestEveryWorkloadRunsOnTheEmbeddedStore(t *testing.T) {
	rows := smoke(t, &Suite{Stores: []string{"sqlite"}}, 18)
	for _, workload := range []string{"saga-64", "outage-1000", "beside-hanging-64"} {
		if find(rows, workload, "bedrock-sqlite") == nil {
			t.Errorf("%s was not measured", workload)
		}
	}
	r := find(rows, "outage-1000", "bedrock-sqlite")
	if r == nil || *r.Calls < 2 || *r.FirstCall < 0 {
		t.Errorf("outage = %+v: every saga calls two participants, after they are back", r)
	}
}

func TestServersAreStartedForTheirStores(t *testing.T) {
	for store, program := range map[string]string{
		"mariadb": "mariadbd", "postgres": "postgres", "redis": "redis-server",
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(program + " is not installed")
			}
			rows := smoke(t, &Suite{
				Stores: []string{store}, Workloads: []string{"saga-16", "durable-writes-64", "functions-64"},
			}, 4)
			if r := find(rows, "saga-16", "bedrock-"+store); r == nil || r.StoreCPU == nil || r.RatioToMinimal == nil {
				t.Errorf("saga-16 = %+v: want the store's processor time, and a ratio", r)
			}
		})
	}
}

func TestTwoReplicasShareAStore(t *testing.T) {
	if _, err := exec.LookPath("postgres"); err != nil {
		t.Skip("postgres is not installed")
	}
	rows := smoke(t, &Suite{
		Stores: []string{"postgres"}, Workloads: []string{"outage-slow"},
	}, 2)
	if find(rows, "outage-slow", "bedrock-postgres-x2") == nil {
		t.Error("two replicas were not measured")
	}
}

// TestNamesThatNothingHas are refused before anything starts.
func TestNamesThatNothingHas(t *testing.T) {
	for what, suite := range map[string]*Suite{
		`no workload is called "saga-65"`: {Workloads: []string{"saga-64", "saga-65"}},
		`no subject is called "bedrok"`:   {Stores: []string{"sqlite"}, Subjects: []string{"bedrok"}},
	} {
		if _, err := suite.Run(t.Context()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: want %q", err, what)
		}
	}
}
