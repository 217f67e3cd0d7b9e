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
func layers() []layer {
	leaf := []string{"internal/wheel", "internal/bootclock", "internal/chance", "internal/settle"}
	front := append([]string{"lock", "lock/driver"}, leaf...)
	return []layer{
		// Layer 0: the contract.
		{packages: "lock/driver"},
		{packages: "txn/driver"},
		// Layer 1: the front, and leaves below it.
		{packages: "lock", own: append([]string{"lock/driver"}, leaf...), foreign: []string{"golang.org/x/sys"}},
		{packages: "txn", own: []string{"txn/driver"}},
		{packages: "txn/plan", own: []string{"txn"}},
		{packages: "internal/settle", own: []string{"lock/driver"}},
		{packages: "internal/wheel"},
		{packages: "internal/chance"},
		{packages: "internal/nearest"},
		{packages: "internal/http1"},
		{packages: "internal/bootclock", foreign: []string{"golang.org/x/sys"}},
		// Layer 2: backends, one client library each, and observers.
		{packages: "lock/memlock", own: front},
		{packages: "lock/redislock", own: front},
		{
			packages: "lock/redislock/goredis", own: []string{"lock/redislock", "lock/driver"},
			foreign: []string{"github.com/redis/go-redis/v9"},
		},
		{
			packages: "lock/redislock/rueidis", own: []string{"lock/redislock", "lock/driver"},
			foreign: []string{"github.com/redis/rueidis"},
		},
		{packages: "lock/lockotel", own: []string{"lock"}, foreign: []string{"go.opentelemetry.io/otel"}},
		{packages: "lock/lockprom", own: []string{"lock"}, foreign: []string{"github.com/prometheus/client_golang"}},
		{packages: "txn/memstore", own: []string{"txn/driver"}},
		{packages: "txn/sqlstore", own: []string{"txn/driver"}},
		{
			packages: "txn/sqlstore/sqlite", own: []string{"txn/driver", "txn/sqlstore"},
			foreign: []string{"modernc.org/sqlite"},
		},
		{
			packages: "txn/sqlstore/mysql", own: []string{"txn/driver", "txn/sqlstore"},
			foreign: []string{"github.com/go-sql-driver/mysql"},
		},
		{
			packages: "txn/sqlstore/postgres", own: []string{"txn/driver", "txn/sqlstore"},
			foreign: []string{"github.com/jackc/pgx/v5"},
		},
		{packages: "txn/redisstore", own: []string{"txn/driver"}, foreign: []string{"github.com/redis/go-redis/v9"}},
		// Layer 2: modes of transactions.
		{packages: "txn/internal/draft", own: []string{"txn"}},
		{packages: "txn/saga", own: []string{"txn", "txn/plan", "txn/internal/draft"}},
		{packages: "txn/tcc", own: []string{"txn", "txn/plan", "txn/internal/draft"}},
		{packages: "txn/msg", own: []string{"txn", "txn/plan", "txn/internal/draft"}},
		{
			packages: "txn/deffile", own: []string{"txn", "txn/plan", "txn/saga", "txn/tcc", "txn/msg", "internal/nearest"},
			foreign: []string{"go.yaml.in/yaml/v3"},
		},
		// Layer 2: the participants' side.
		{packages: "txn/participant/wire", own: []string{"txn"}},
		{packages: "txn/participant", own: []string{"txn", "txn/participant/wire"}},
		{
			packages: "txn/participant/grpcpart", own: []string{"txn", "txn/participant/wire"},
			foreign: []string{"google.golang.org/grpc"},
		},
		{
			packages: "txn/participant/connectpart", own: []string{"txn", "txn/participant/wire"},
			foreign: []string{"connectrpc.com/connect"},
		},
		// Layer 2: participants.
		{packages: "txn/barrier", own: []string{"txn"}},
		{
			packages: "txn/barrier/redisbarrier", own: []string{"txn", "txn/barrier"},
			foreign: []string{"github.com/redis/go-redis/v9"},
		},
		// Layer 3: the engine.
		{
			packages: "coord",
			own:      []string{"txn/driver", "txn", "txn/plan", "txn/saga", "txn/tcc", "txn/msg", "internal/chance", "internal/nearest"},
		},
		// Layer 4: the remote side. The protocol is generated.
		{packages: "proto/...", foreign: []string{"connectrpc.com/connect", "google.golang.org/protobuf"}},
		{
			packages: "internal/wire", own: []string{"txn", "txn/driver", "lock/driver", "proto/..."},
			foreign: []string{"connectrpc.com/connect", "google.golang.org/protobuf"},
		},
		{
			packages: "server", own: []string{"txn", "txn/driver", "lock/driver", "proto/...", "internal/wire", "internal/settle", "internal/nearest"},
			foreign: []string{
				"connectrpc.com/connect", "connectrpc.com/grpchealth", "connectrpc.com/grpcreflect",
				"google.golang.org/protobuf", "go.opentelemetry.io/otel",
			},
		},
		{
			packages: "client", own: []string{"txn", "txn/driver", "lock/driver", "proto/...", "internal/wire", "internal/http1"},
			foreign: []string{"connectrpc.com/connect", "google.golang.org/protobuf", "go.opentelemetry.io/otel"},
		},
		// Layer 3: how the engine calls over the network, and what observes it.
		{packages: "coord/allow"},
		{
			packages: "coord/internal/reach",
			own:      []string{"txn", "txn/plan", "txn/participant/wire", "coord/allow"},
		},
		{
			packages: "coord/httpcall",
			own:      []string{"txn", "txn/plan", "txn/participant/wire", "coord/allow", "coord/internal/reach", "internal/http1"},
		},
		{
			packages: "coord/grpccall",
			own:      []string{"txn", "txn/plan", "txn/participant/wire", "coord/allow", "coord/internal/reach"},
			foreign:  []string{"connectrpc.com/connect"},
		},
		{
			packages: "coord/coordprom", own: []string{"txn", "txn/driver", "txn/plan", "coord"},
			foreign: []string{"github.com/prometheus/client_golang"},
		},
		{
			packages: "coord/coordotel", own: []string{"txn", "txn/plan", "coord"},
			foreign: []string{"go.opentelemetry.io/otel"},
		},
		{
			packages: "console",
			own:      []string{"txn", "txn/driver", "txn/saga", "txn/tcc", "txn/msg", "lock", "lock/driver", "internal/nearest"},
		},
		// Layer 5: programs, and tests that drive those of others.
		{packages: "cmd/...", own: []string{"..."}, foreign: []string{"..."}},
		{packages: "examples/...", own: []string{"..."}, foreign: []string{"..."}},
		{packages: "interop", own: []string{"..."}, foreign: []string{"..."}},
		// Real servers and faults, for tests and for bedrock torture.
		{packages: "internal/testenv"},
		{packages: "internal/chaos"},
		// Tests.
		{
			packages: "lock/locktest/...", test: true, own: []string{"lock/...", "internal/..."},
			foreign: []string{"github.com/anishathalye/porcupine", "pgregory.net/rapid", "github.com/google/go-cmp"},
		},
		{packages: "txn/sqlstore/internal/sqltest", test: true, own: []string{"txn/...", "internal/..."}},
		{
			packages: "txn/txntest/...", test: true, own: []string{"txn/...", "coord/...", "server", "client", "proto/...", "internal/..."},
			foreign: []string{"github.com/google/go-cmp"},
		},
		{packages: "internal/mutants", test: true},
		{packages: "internal/sim", test: true},
		{packages: "internal/sim/mutants", test: true, own: []string{"internal/mutants"}},
		{packages: "internal/sim/locks", test: true, own: []string{"internal/sim", "lock", "lock/driver", "lock/memlock"}},
		{
			packages: "internal/sim/txns", test: true,
			own:     []string{"internal/sim", "coord", "txn", "txn/driver", "txn/memstore", "txn/plan", "txn/barrier"},
			foreign: []string{"modernc.org/sqlite"},
		},
		{packages: "internal/scramble", test: true},
		{packages: "internal/housetest", test: true},
	}
}

// layerOf finds the layer of a package.
func layerOf(dir string) (layer, bool) {
	for _, l := range layers() {
		if matches(l.packages, dir) {
			return l, true
		}
	}
	return layer{}, false
}

// matches tells whether a pattern covers a path.
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
		l, ok := layerOf(dir)
		if !ok {
			complaints = append(complaints, dir+": no layer; give it a line in layers()")
			continue
		}
		complaints = append(complaints, l.check(tr.packages[dir])...)
	}
	return complaints
}

// check complains about every import the layer does not allow.
func (l layer) check(files []*source) []string {
	var complaints []string
	for _, s := range files {
		if s.test {
			continue
		}
		for _, imported := range s.imports() {
			if reason := l.refuses(imported); reason != "" {
				complaints = append(complaints, fmt.Sprintf("%s: imports %s: %s", s.path, imported, reason))
			}
		}
	}
	return complaints
}

// refuses says why an import is wrong, or nothing.
func (l layer) refuses(imported string) string {
	own, isOwn := strings.CutPrefix(imported, modulePath+"/")
	switch {
	case isOwn:
		return l.refusesOwn(own)
	case imported == "testing" || strings.HasPrefix(imported, "testing/"):
		return reasonIf(!l.test, "production code does not test")
	case isForeign(imported):
		return reasonIf(!slices.ContainsFunc(l.foreign, within(imported)), "library not allowed here")
	default:
		return "" // standard library
	}
}

func (l layer) refusesOwn(dir string) string {
	allowed := slices.ContainsFunc(l.own, func(pattern string) bool { return matches(pattern, dir) })
	if target, ok := layerOf(dir); ok && target.test && !l.test {
		return "for tests only"
	}
	return reasonIf(!allowed && !matches(l.packages, dir), "against the layers")
}

// within tells whether a package belongs to a module.
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
