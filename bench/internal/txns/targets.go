package txns

import (
	"fmt"

	"github.com/bedrock-go/bedrock/bench/internal/report"
)

// figures are the rows that targets are held against.
type figures []*Row

// Verdicts holds Bedrock's rows against its targets. A target that compares with a
// DTM server that was not there says so; others that were not measured have no
// verdict.
func Verdicts(rows []*Row) []report.Verdict {
	f := figures(rows)
	var list []report.Verdict
	list = append(list, f.sagas()...)
	list = append(list, f.modes()...)
	list = append(list, f.embedded()...)
	list = append(list, f.costs()...)
	list = append(list, f.outages()...)
	list = append(list, f.replicas()...)
	return append(list, f.beside()...)
}

// needs says what a comparison with DTM lacks.
func needs(server string) string {
	return fmt.Sprintf("needs -dtm %s=URL", server[len("dtm-"):])
}

// sagas are sagas over HTTP with 64 clients.
func (f figures) sagas() []report.Verdict {
	const workload = "saga-64"
	var list []report.Verdict
	for _, t := range []struct {
		store string
		limit float64
	}{{"sqlite", 8}, {"mariadb", 3}, {"postgres", 3}, {"redis", 2.5}} {
		list = append(list, f.toDTM(workload, t.store, t.limit)...)
	}
	if r := find(f, workload, "bedrock-sqlite"); r != nil && r.RatioToMinimal != nil {
		list = append(list, report.Verdict{
			Target: "saga over HTTP, 64 clients, x minimal coordinator", Subject: r.Subject,
			Measured: *r.RatioToMinimal, Limit: 0.6,
		})
	}
	return list
}

// modes are TCC and messages.
func (f figures) modes() []report.Verdict {
	var list []report.Verdict
	for _, m := range []mode{tcc, ownTries, message} {
		list = append(list, f.toDTM(nameFor(m, 64), embedded, 5)...)
	}
	return list
}

// toDTM compares a rate with that of DTM.
func (f figures) toDTM(workload, store string, limit float64) []report.Verdict {
	r := find(f, workload, bedrock(store).Name)
	if r == nil {
		return nil
	}
	v := report.Verdict{Target: workload + ", x " + dtmOf(store), Subject: r.Subject, Limit: limit}
	return one(v, r.RatioToDTM, needs(dtmOf(store)))
}

// one completes a verdict with what was measured.
func one(v report.Verdict, measured *float64, lacks string) []report.Verdict {
	if measured == nil {
		v.Lacks = lacks
	} else {
		v.Measured = *measured
	}
	return []report.Verdict{v}
}

// embedded compares sagas of functions with the writes they cannot do without.
func (f figures) embedded() []report.Verdict {
	r, floor := find(f, "functions-64", "bedrock-"+embedded), find(f, "durable-writes-64", embedded)
	if r == nil || floor == nil {
		return nil
	}
	return one(report.Verdict{
		Target: "saga of functions, 64 callers, x two grouped durable writes", Subject: r.Subject, Limit: 0.5,
	}, ratio(&r.Value, &floor.Value), "")
}

// costs compares processor time and slow transactions with those of DTM.
func (f figures) costs() []report.Verdict {
	const workload, third = "saga-64", 1.0 / 3
	var list []report.Verdict
	for _, store := range []string{"sqlite", "mariadb", "redis"} {
		r := find(f, workload, bedrock(store).Name)
		if r == nil {
			continue
		}
		peer := dtmOf(store)
		var cpu, p99 *float64
		lacks := needs(peer)
		if other := find(f, workload, peer); other != nil {
			cpu, p99 = ratio(r.CPU, other.CPU), ratio(r.P99, other.P99)
			lacks = "the server's process is not to be seen"
		}
		v := report.Verdict{
			Target: "processor time of a saga, x " + peer, Subject: r.Subject, Limit: third, AtMost: true,
		}
		list = append(list, one(v, cpu, lacks)...)
		v.Target = "p99 of a saga, x " + peer
		list = append(list, one(v, p99, lacks)...)
	}
	return list
}

// outages are those of the participants.
func (f figures) outages() []report.Verdict {
	var list []report.Verdict
	for _, t := range []struct {
		workload string
		drained  float64
	}{
		{"outage-1000", 3000},
		{"outage-100k", 3000},
		{"outage-functions-1000", 5000},
		{"outage-functions-100k", 5000},
	} {
		for _, r := range f {
			if r.Workload != t.workload || r.subject.Role != Bedrock {
				continue
			}
			list = append(list,
				report.Verdict{
					Target: t.workload + ", seconds to the first call", Subject: r.Subject, Measured: *r.FirstCall,
					Limit: 3, AtMost: true,
				},
				report.Verdict{
					Target: t.workload + ", drained a second", Subject: r.Subject, Measured: r.Value, Limit: t.drained,
				},
			)
		}
	}
	return list
}

// replicas compares two with one. On a machine whose processors one replica, its
// store and the participants can fill, a second cannot help: there it must not
// hurt. Where waiting bounds the rate it must help.
func (f figures) replicas() []report.Verdict {
	var list []report.Verdict
	for _, t := range []struct {
		workload string
		limit    float64
	}{{"outage-100k", 1}, {"outage-slow", 1.5}} {
		for _, store := range []string{"mariadb", "postgres"} {
			two := find(f, t.workload, pair(store).Name)
			gain := ratio(value(two), value(find(f, t.workload, bedrock(store).Name)))
			if gain == nil {
				continue
			}
			list = append(list, report.Verdict{
				Target: t.workload + ", two replicas, x one", Subject: two.Subject, Measured: *gain, Limit: t.limit,
			})
		}
	}
	return list
}

// beside are transactions beside others that hang.
func (f figures) beside() []report.Verdict {
	r := find(f, "beside-hanging-64", "bedrock-"+embedded)
	if r == nil {
		return nil
	}
	return []report.Verdict{{
		Target: "healthy ones beside 5 % that hang, of normal", Subject: r.Subject, Measured: r.Value, Limit: 0.8,
	}}
}
