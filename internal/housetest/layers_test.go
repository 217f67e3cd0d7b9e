package housetest

import (
	"fmt"
	"slices"
	"strings"
)

// A layer says what the non-test files of some packages may import besides the
// standard library. Patterns match a folder, or with /... all below it too.
type layer struct {
	packages string
	own      []string // packages of this module
	foreign  []string // third-party modules
	test     bool     // for tests only; no production package may import it
}

// layers is the map of the house. The first match counts; a package that
// matches none is a complaint, so that new packages are placed on purpose.
func layers() layerMap {
	leaf := []string{
		"internal/wheel", "internal/bootclock", "internal/chance", "internal/settle", "internal/sleep",
		"internal/timelimit",
	}
	return append(layerMap{
		// Layer 0: the contract.
		{packages: "input"},
		{packages: "internal/timelimit"},
		{packages: "internal/underway", own: []string{"internal/timelimit"}},
		{packages: "internal/batch", own: []string{"internal/timelimit", "internal/underway"}},
		{packages: "internal/sqlkind"},
		{packages: "lock/driver", own: []string{"input", "internal/underway"}},
		{packages: "txn/driver"},
		// Layer 1: the front, and leaves below it.
		{packages: "lock/internal/outcome"},
		{packages: "lock", own: append([]string{"lock/driver", "lock/internal/outcome", "input"}, leaf...)},
		{packages: "txn", own: []string{"txn/driver", "input"}},
		{
			packages: "txn/check",
			own:      []string{"input", "txn", "txn/driver", "internal/nearest", "internal/printable"},
		},
		{packages: "txn/plan", own: []string{"txn"}},
		{packages: "internal/settle", own: []string{"lock/driver", "internal/sleep"}},
		{packages: "internal/wheel"},
		{packages: "internal/chance"},
		{packages: "internal/sleep"},
		{packages: "internal/nearest"},
		{packages: "internal/printable"},
		{packages: "internal/fieldpath"},
		{packages: "internal/http1"},
		{packages: "internal/bootclock", foreign: []string{"golang.org/x/sys"}},
		// Layer 1: the seam to Redis, and what fills it in.
		{packages: "redisconn", own: []string{"input", "internal/underway", "internal/sleep"}},
		{packages: "redisconn/internal/silence", own: []string{"redisconn"}},
		{
			packages: "redisconn/goredis",
			own:      []string{"redisconn", "redisconn/internal/silence", "internal/timelimit"},
			foreign:  []string{"github.com/redis/go-redis/v9"},
		},
		{
			packages: "redisconn/rueidis",
			own:      []string{"redisconn", "redisconn/internal/silence", "internal/timelimit"},
			foreign:  []string{"github.com/redis/rueidis"},
		},
		{packages: "internal/redisnode", own: []string{"redisconn"}},
		// Layer 2: backends, one client library each, and observers.
		{packages: "lock/memlock", own: []string{"lock", "lock/driver"}},
		{
			packages: "lock/redislock",
			own: []string{
				"input", "lock", "lock/driver", "redisconn", "internal/redisnode", "internal/batch", "internal/sleep",
			},
		},
		{
			packages: "lock/etcdlock",
			own: []string{
				"input", "lock", "lock/driver", "lock/internal/tenure", "internal/bootclock", "internal/sleep",
			},
			foreign: []string{"go.etcd.io/etcd", "google.golang.org/grpc"},
		},
		{
			packages: "lock/internal/tenure",
			own:      []string{"internal/bootclock", "internal/sleep", "internal/wheel"},
		},
		{
			packages: "lock/zklock",
			own:      []string{"input", "lock", "lock/driver", "lock/internal/tenure", "internal/bootclock"},
			foreign:  []string{"github.com/go-zookeeper/zk"},
		},
		// Layer 2: backends on databases, and what they have in common: decisions, tables, requests, servers.
		{packages: "lock/sqllock/internal/ledger", own: []string{"lock/driver"}},
		{
			packages: "lock/sqllock/internal/rows",
			own:      []string{"input", "lock/driver", "lock/sqllock/internal/ledger", "internal/sqlkind"},
		},
		{
			packages: "lock/sqllock/internal/keeper", own: []string{"lock/driver", "lock/sqllock/internal/ledger"},
		},
		{
			packages: "lock/sqllock/internal/sqltest", test: true, own: []string{"lock/...", "internal/..."},
			foreign: []string{"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql"},
		},
		{
			packages: "lock/sqllock/internal/...",
			own:      []string{"input", "lock/...", "internal/bootclock", "internal/sleep", "internal/sqlkind"},
		},
		{
			packages: "lock/sqllock/sqlite",
			own: []string{
				"input", "lock", "lock/driver", "lock/sqllock/internal/...", "internal/batch", "internal/bootclock",
				"internal/sleep", "internal/sqlkind",
			},
			foreign: []string{"golang.org/x/sys", "modernc.org/sqlite"},
		},
		{
			packages: "lock/sqllock/postgres",
			own: []string{
				"lock", "lock/driver", "lock/sqllock/internal/...", "internal/sleep", "internal/sqlkind",
			},
			foreign: []string{"github.com/jackc/pgx/v5"},
		},
		{
			packages: "lock/sqllock/mysql",
			own:      []string{"lock", "lock/driver", "lock/sqllock/internal/...", "internal/sqlkind"},
			foreign:  []string{"github.com/go-sql-driver/mysql"},
		},
		// Layer 2: several backends as one.
		{
			packages: "internal/several",
			own: []string{
				"input", "lock/driver", "internal/bootclock", "internal/settle", "internal/sleep", "internal/timelimit",
			},
		},
		{
			packages: "lock/quorum",
			own: []string{
				"input", "lock", "lock/driver", "internal/several", "internal/settle", "internal/timelimit",
			},
		},
		{
			packages: "lock/combination",
			own:      []string{"input", "lock", "lock/driver", "internal/several", "internal/timelimit"},
		},
		// Layer 2: what is made of leases, or of the backend beside them, over the public API.
		{
			packages: "lock/internal/attempt",
			own: []string{
				"lock", "lock/driver", "lock/internal/outcome", "internal/settle", "internal/timelimit",
			},
		},
		{packages: "lock/internal/listen", own: []string{"lock", "lock/driver", "lock/internal/attempt"}},
		{
			packages: "lock/election",
			own:      []string{"input", "lock", "lock/driver", "lock/internal/...", "internal/chance"},
		},
		{
			packages: "lock/latch",
			own:      []string{"input", "lock", "lock/driver", "lock/internal/...", "internal/chance"},
		},
		{packages: "lock/multi", own: []string{"input", "lock", "lock/driver", "lock/internal/outcome"}},
		{packages: "lock/lockotel", own: []string{"lock"}, foreign: []string{"go.opentelemetry.io/otel"}},
		{packages: "lock/lockprom", own: []string{"lock"}, foreign: []string{"github.com/prometheus/client_golang"}},
		// Layer 2: the resource's side of a lock's token.
		{packages: "lock/guard", own: []string{"lock", "lock/driver"}},
		{packages: "lock/guard/header", own: []string{"input", "lock/guard"}},
		{packages: "lock/guard/internal/asking", own: []string{"lock/guard"}},
		{
			packages: "lock/guard/internal/fencesql",
			own:      []string{"input", "lock/driver", "lock/guard", "internal/sleep", "internal/sqlkind"},
		},
		{
			packages: "lock/guard/sqlguard",
			own:      []string{"input", "lock", "lock/guard", "lock/guard/internal/fencesql", "internal/sqlkind"},
		},
		{
			packages: "lock/guard/pgxguard",
			own:      []string{"input", "lock", "lock/guard", "lock/guard/internal/fencesql", "internal/sqlkind"},
			foreign:  []string{"github.com/jackc/pgx/v5"},
		},
		{packages: "lock/guard/redisguard", own: []string{"input", "lock", "lock/guard", "redisconn"}},
		{
			packages: "lock/guard/etcdguard",
			own:      []string{"input", "lock", "lock/guard"}, foreign: []string{"go.etcd.io/etcd"},
		},
		{
			packages: "lock/guard/httpguard",
			own:      []string{"lock/guard", "lock/guard/header", "lock/guard/internal/asking"},
		},
		{
			packages: "lock/guard/grpcguard",
			own:      []string{"lock/guard", "lock/guard/header", "lock/guard/internal/asking"},
			foreign:  []string{"google.golang.org/grpc"},
		},
		{
			packages: "lock/guard/connectguard",
			own:      []string{"lock/guard", "lock/guard/header", "lock/guard/internal/asking"},
			foreign:  []string{"connectrpc.com/connect"},
		},
		{packages: "txn/memstore", own: []string{"txn/driver"}},
		{packages: "txn/sqlstore", own: []string{"input", "txn/driver", "internal/sleep", "internal/sqlkind"}},
		{
			packages: "txn/sqlstore/sqlite", own: []string{"input", "txn/sqlstore", "internal/sqlkind"},
			foreign: []string{"modernc.org/sqlite"},
		},
		{packages: "internal/mysqlurl", foreign: []string{"github.com/go-sql-driver/mysql"}},
		{
			packages: "txn/sqlstore/mysql",
			own:      []string{"txn/driver", "txn/sqlstore", "internal/mysqlurl", "internal/sqlkind"},
			foreign:  []string{"github.com/go-sql-driver/mysql"},
		},
		{
			packages: "txn/sqlstore/postgres", own: []string{"txn/driver", "txn/sqlstore", "internal/sqlkind"},
			foreign: []string{"github.com/jackc/pgx/v5"},
		},
		{
			packages: "txn/redisstore",
			own:      []string{"input", "txn/driver", "redisconn", "internal/redisnode", "internal/batch"},
		},
		// Layer 2: modes of transactions.
		{packages: "txn/internal/words", own: []string{"input", "txn"}},
		{packages: "txn/internal/draft", own: []string{"txn", "txn/internal/words"}},
		{packages: "txn/saga", own: []string{"txn", "txn/check", "txn/plan", "txn/internal/draft"}},
		{packages: "txn/tcc", own: []string{"txn", "txn/check", "txn/plan", "txn/internal/..."}},
		{packages: "txn/msg", own: []string{"txn", "txn/check", "txn/plan", "txn/internal/draft"}},
		{
			packages: "txn/modes",
			own: []string{
				"input", "txn", "txn/saga", "txn/tcc", "txn/msg", "txn/internal/words", "internal/nearest",
			},
		},
		{
			packages: "txn/deffile", own: []string{
				"input", "txn", "txn/check", "txn/modes", "txn/saga", "txn/tcc", "txn/msg", "internal/nearest",
				"internal/fieldpath",
			},
			foreign: []string{"go.yaml.in/yaml/v3"},
		},
		// Layer 2: the participants' side.
		{packages: "txn/participant/header", own: []string{"txn", "internal/printable"}},
		{packages: "txn/participant", own: []string{"txn", "txn/participant/header"}},
		{
			packages: "txn/participant/grpcpart", own: []string{"txn", "txn/participant/header"},
			foreign: []string{"google.golang.org/grpc"},
		},
		{
			packages: "txn/participant/connectpart", own: []string{"txn", "txn/participant/header"},
			foreign: []string{"connectrpc.com/connect"},
		},
		// Layer 2: participants.
		{packages: "txn/barrier", own: []string{"input", "txn", "internal/sleep", "internal/sqlkind"}},
		{
			packages: "txn/barrier/redisbarrier",
			own:      []string{"txn", "txn/barrier", "redisconn", "internal/redisnode", "input"},
		},
		// Layer 3: the engine, over leaves that do not know it.
		{packages: "coord/internal/record", own: []string{"txn", "txn/driver"}},
		{packages: "coord/internal/lanes", own: []string{"txn", "txn/driver", "internal/chance"}},
		{
			packages: "coord",
			own: []string{
				"input", "coord/internal/record", "coord/internal/lanes", "txn/driver", "txn", "txn/check", "txn/plan",
				"txn/modes", "txn/msg", "internal/chance", "internal/nearest", "internal/printable", "internal/sleep",
			},
		},
		// Layer 4: the remote side. The protocol is generated.
		{packages: "proto/...", foreign: []string{"connectrpc.com/connect", "google.golang.org/protobuf"}},
		{
			packages: "internal/apiwire",
			own: []string{
				"input", "txn", "txn/driver", "txn/modes", "txn/saga", "txn/tcc", "txn/msg", "lock/driver",
				"proto/...", "internal/printable",
			},
			foreign: []string{"connectrpc.com/connect", "google.golang.org/protobuf"},
		},
		{packages: "server/auth"},
		{
			packages: "server",
			own: []string{
				"input", "txn", "txn/check", "txn/modes", "txn/deffile", "lock/driver", "proto/...",
				"server/auth", "internal/apiwire", "internal/settle", "internal/nearest", "internal/fieldpath",
			},
			foreign: []string{
				"connectrpc.com/connect", "connectrpc.com/grpchealth", "connectrpc.com/grpcreflect",
				"google.golang.org/protobuf", "go.opentelemetry.io/otel",
			},
		},
		{
			packages: "client", own: []string{
				"input", "txn", "txn/modes", "lock/driver", "proto/...", "internal/apiwire", "internal/http1",
				"internal/sleep", "internal/timelimit",
			},
			foreign: []string{"connectrpc.com/connect", "google.golang.org/protobuf", "go.opentelemetry.io/otel"},
		},
		// Layer 3: how the engine calls over the network, and what observes it.
		{packages: "coord/allow"},
		{
			packages: "coord/internal/reach",
			own:      []string{"txn", "txn/participant/header", "coord/allow"},
		},
		{
			packages: "coord/httpcall",
			own: []string{
				"input", "txn", "txn/participant/header", "coord/allow", "coord/internal/reach", "internal/http1",
			},
		},
		{
			packages: "coord/grpccall",
			own:      []string{"txn", "input", "txn/participant/header", "coord/allow", "coord/internal/reach"},
			foreign:  []string{"connectrpc.com/connect"},
		},
		{
			packages: "coord/coordprom", own: []string{"txn", "txn/driver", "coord"},
			foreign: []string{"github.com/prometheus/client_golang"},
		},
		{
			packages: "coord/coordotel", own: []string{"txn", "coord"},
			foreign: []string{"go.opentelemetry.io/otel"},
		},
		{
			packages: "console",
			own: []string{
				"input", "txn", "txn/check", "txn/driver", "txn/modes", "lock", "lock/driver", "internal/nearest",
			},
		},
	}, programs()...)
}

// layerMap are layers in order.
type layerMap []layer

// layerOf finds the layer of a package.
func (m layerMap) layerOf(dir string) (layer, bool) {
	for _, l := range m {
		if matches(l.packages, dir) {
			return l, true
		}
	}
	return layer{}, false
}

// matches reports whether a pattern covers a path.
func matches(pattern, name string) bool {
	prefix, deep := strings.CutSuffix(pattern, "...")
	if !deep {
		return pattern == name
	}
	prefix = strings.TrimSuffix(prefix, "/")
	return prefix == "" || name == prefix || strings.HasPrefix(name, prefix+"/")
}

// importsFollowLayers checks production files only: what a test imports reaches
// no user's binary.
func importsFollowLayers(tr tree) []string {
	var complaints []string
	for _, dir := range tr.dirs() {
		l, ok := tr.layers.layerOf(dir)
		if !ok {
			complaints = append(complaints, dir+": no layer; give it a line in layers()")
			continue
		}
		complaints = append(complaints, tr.layers.check(l, tr.packages[dir])...)
	}
	return complaints
}

// check complains about every import the layer does not allow.
func (m layerMap) check(l layer, files []*source) []string {
	var complaints []string
	for _, s := range files {
		if s.test {
			continue
		}
		for _, imported := range s.imports() {
			if reason := m.refuses(l, imported); reason != "" {
				complaints = append(complaints, fmt.Sprintf("%s: imports %s: %s", s.path, imported, reason))
			}
		}
	}
	return complaints
}

// refuses says why an import is wrong, or nothing.
func (m layerMap) refuses(l layer, imported string) string {
	own, isOwn := strings.CutPrefix(imported, modulePath+"/")
	switch {
	case isOwn:
		return m.refusesOwn(l, own)
	case imported == "testing" || strings.HasPrefix(imported, "testing/"):
		return reasonIf(!l.test, "production code does not test")
	case isForeign(imported):
		return reasonIf(!slices.ContainsFunc(l.foreign, within(imported)), "library not allowed here")
	default:
		return "" // standard library
	}
}

func (m layerMap) refusesOwn(l layer, dir string) string {
	allowed := slices.ContainsFunc(l.own, func(pattern string) bool { return matches(pattern, dir) })
	if target, ok := m.layerOf(dir); ok && target.test && !l.test {
		return "for tests only"
	}
	return reasonIf(!allowed && !matches(l.packages, dir), "against the layers")
}

// within reports whether a package belongs to a module.
func within(imported string) func(string) bool {
	return func(module string) bool {
		return module == "..." || matches(module+"/...", imported)
	}
}

func reasonIf(wrong bool, reason string) string {
	if wrong {
		return reason
	}
	return ""
}
