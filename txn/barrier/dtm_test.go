package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// dtmInsert is the statement of DTM's client libraries.
func (e *engine) dtmInsert(t *testing.T, kind, gid, branch, op, reason string) (affected int64) {
	t.Helper()
	query := "insert ignore into dtm_barrier.barrier(trans_type, gid, branch_id, op, barrier_id, reason) " +
		"values(?,?,?,?,?,?)"
	if e.dialect == barrier.Postgres {
		query = "insert into dtm_barrier.barrier(trans_type, gid, branch_id, op, barrier_id, reason) " +
			"values($1,$2,$3,$4,$5,$6)" +
			" on conflict ON CONSTRAINT uniq_barrier do nothing"
	}
	result, err := e.db.ExecContext(t.Context(), query, kind, gid, branch, op, "01", reason)
	if err != nil {
		t.Fatal(err)
	}
	affected, _ = result.RowsAffected()
	return affected
}

// dtmCall is a call to a participant of DTM: it reports whether the work was run.
func (e *engine) dtmCall(t *testing.T, kind, gid, op string) bool {
	t.Helper()
	origin := map[string]string{"cancel": "try", "compensate": "action", "rollback": "action"}[op]
	var originAffected int64
	if origin != "" {
		originAffected = e.dtmInsert(t, kind, gid, "pay", origin, op)
	}
	affected := e.dtmInsert(t, kind, gid, "pay", op, op)
	return originAffected == 0 && affected > 0
}

// rows are the marks of a transaction as DTM has them.
func (e *engine) rows(t *testing.T, gid string) []string {
	t.Helper()
	rows, err := e.db.QueryContext(t.Context(), e.place("SELECT trans_type, gid, branch_id, op, barrier_id, reason "+
		"FROM dtm_barrier.barrier WHERE gid = ? ORDER BY id"), gid)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		columns := make([]string, 6)
		if err := rows.Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4], &columns[5]); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Join(columns, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func testDTM(t *testing.T, e *engine) {
	if e.native() {
		t.Skip("not in this layout")
	}
	nothing := func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil }
	do := func(gid, mode, op string, want barrier.Verdict) {
		t.Helper()
		c := call(gid, op)
		c.Mode = mode
		e.do(t, c, nothing, want, "")
	}
	t.Run("rows", func(t *testing.T) {
		do("g1", "saga", "action", barrier.Ran)
		do("g1", "saga", "compensate", barrier.Ran)
		do("g2", "tcc", "cancel", barrier.EmptyCompensation)
		do("g2", "tcc", "try", barrier.Hanging)
		do("g3", "xa", "action", barrier.Ran)
		do("g3", "xa", "rollback", barrier.Ran)
		do("g4", "msg", "deliver", barrier.Ran)
		if err := e.b.Prepare(t.Context(), e.db, "g5"); err != nil {
			t.Fatal(err)
		}
		e.check(t, "g6")
		for gid, want := range map[string][]string{
			"g1": {"saga|g1|pay|action|01|action", "saga|g1|pay|compensate|01|compensate"},
			"g2": {"tcc|g2|pay|try|01|cancel", "tcc|g2|pay|cancel|01|cancel"},
			"g3": {"xa|g3|pay|action|01|action", "xa|g3|pay|rollback|01|rollback"},
			"g4": {"msg|g4|pay|action|01|action"},
			"g5": {"msg|g5|00|msg|01|msg"},
			"g6": {"msg|g6|00|msg|01|rollback"},
		} {
			if diff := cmp.Diff(want, e.rows(t, gid)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", gid, diff)
			}
		}
	})
	t.Run("DTM first", func(t *testing.T) {
		for _, step := range []struct {
			gid, dtm, ours string
			want           barrier.Verdict
		}{
			{"h1", "action", "action", barrier.Duplicate},
			{"h2", "action", "compensate", barrier.Ran},
			{"h3", "compensate", "action", barrier.Hanging},
			{"h4", "compensate", "compensate", barrier.Duplicate},
			{"h5", "cancel", "try", barrier.Hanging},
			{"h6", "action", "deliver", barrier.Duplicate},
		} {
			e.dtmCall(t, "saga", step.gid, step.dtm)
			do(step.gid, "saga", step.ours, step.want)
		}
	})
	t.Run("ours first", func(t *testing.T) {
		for _, step := range []struct {
			gid, ours string
			want      barrier.Verdict
			dtm       string
			runs      bool
		}{
			{"i1", "action", barrier.Ran, "action", false},
			{"i2", "action", barrier.Ran, "compensate", true},
			{"i3", "compensate", barrier.EmptyCompensation, "action", false},
			{"i4", "cancel", barrier.EmptyCompensation, "cancel", false},
		} {
			do(step.gid, "saga", step.ours, step.want)
			if ran := e.dtmCall(t, "saga", step.gid, step.dtm); ran != step.runs {
				t.Errorf("%s by us, %s by DTM: ran %v", step.ours, step.dtm, ran)
			}
		}
	})
	t.Run("messages", func(t *testing.T) {
		e.dtmInsert(t, "msg", "m1", "00", "msg", "msg") // DTM's producer has committed
		if e.check(t, "m1") {
			t.Error("the check was refused")
		}
		e.dtmInsert(t, "msg", "m2", "00", "msg", "rollback") // DTM was asked
		if err := e.b.Prepare(t.Context(), e.db, "m2"); !errors.Is(err, barrier.ErrRolledBack) {
			t.Errorf("prepare: %v", err)
		}
	})
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for op, want := range map[string]string{
		"compensate": "action", "cancel": "try", "rollback": "prepare", "undo": "do", "action": "", "deliver": "",
	} {
		if got, ok := barrier.Origin(op); got != want || ok != (want != "") {
			t.Errorf("%s takes back %q, %v; want %q", op, got, ok, want)
		}
	}
}

var _ txn.Func = (*barrier.Barrier)(nil).Check
