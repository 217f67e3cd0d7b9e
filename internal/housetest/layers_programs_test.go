package housetest

// programs are the last layers: programs and what they are made of, and what tests alone use.
func programs() layerMap {
	return layerMap{
		// Layer 5: programs, and tests that drive those of others.
		{packages: "cmd/...", own: []string{"..."}, foreign: []string{"..."}},
		{packages: "examples/...", own: []string{"..."}, foreign: []string{"..."}},
		{packages: "interop/internal/matrix", test: true},
		{packages: "internal/torture/bank", test: true},
		{packages: "interop/internal/peer", own: []string{"internal/testenv"}, test: true},
		{packages: "interop"},
		{packages: "interop/curator"},
		{packages: "interop/etcd"},
		{packages: "interop/shedlock"},
		{packages: "internal/torture/...", own: []string{"..."}, foreign: []string{"..."}},
		// What programs are made of.
		{packages: "internal/child"},
		{
			packages: "internal/serverurl", own: []string{"internal/nearest"},
			foreign: []string{"github.com/redis/go-redis/v9"},
		},
		{
			packages: "internal/lockurl",
			own:      []string{"input", "lock/...", "redisconn/...", "internal/serverurl", "internal/mysqlurl"},
			foreign: []string{
				"github.com/redis/go-redis/v9", "go.etcd.io/etcd", "go.uber.org/zap", "github.com/jackc/pgx/v5",
				"github.com/go-sql-driver/mysql",
			},
		},
		{
			packages: "internal/storeurl",
			own:      []string{"txn/...", "redisconn/...", "internal/serverurl"},
			foreign:  []string{"github.com/redis/go-redis/v9"},
		},
		// Real servers and faults, for tests and for bedrock torture.
		{packages: "internal/testenv"},
		{packages: "internal/chaos"},
		// Tests: for users, for backends and stores, for ourselves.
		{
			packages: "bedrocktest", test: true,
			own: []string{
				"lock", "lock/driver", "lock/memlock", "txn", "txn/driver", "txn/memstore", "txn/modes",
				"txn/participant", "internal/bootclock", "internal/nearest",
			},
		},
		{packages: "internal/conformance", test: true, own: []string{"lock/locktest"}},
		{
			packages: "internal/several/severaltest", test: true,
			own:     []string{"bedrocktest", "lock/...", "redisconn/...", "internal/chaos", "internal/testenv"},
			foreign: []string{"github.com/redis/go-redis/v9", "github.com/redis/rueidis"},
		},
		{
			packages: "lock/guard/internal/guardtest", test: true,
			own: []string{
				"lock", "lock/guard", "lock/redislock", "redisconn/goredis", "internal/child", "internal/testenv",
			},
			foreign: []string{
				"github.com/redis/go-redis/v9", "google.golang.org/grpc", "google.golang.org/protobuf",
			},
		},
		{
			packages: "lock/locktest/...", test: true, own: []string{"bedrocktest", "lock/..."},
			foreign: []string{"github.com/anishathalye/porcupine"},
		},
		{packages: "txn/sqlstore/internal/sqltest", test: true, own: []string{"txn/...", "internal/..."}},
		{
			packages: "txn/txntest", test: true, own: []string{"txn/..."},
			foreign: []string{"github.com/google/go-cmp"},
		},
		{packages: "coord/coordtest", test: true, own: []string{"bedrocktest", "coord/...", "txn/..."}},
		{packages: "internal/mutants", test: true},
		{packages: "internal/mutants/...", test: true},
		{packages: "internal/sim", test: true},
		{packages: "internal/sim/mutants", test: true, own: []string{"internal/mutants"}},
		{
			packages: "internal/sim/locks", test: true,
			own: []string{"internal/sim", "lock", "lock/driver", "lock/memlock", "internal/sleep"},
		},
		{
			packages: "internal/sim/txns", test: true,
			own: []string{
				"internal/sim", "coord", "txn", "txn/driver", "txn/memstore", "txn/plan", "txn/barrier",
				"internal/sleep",
			},
			foreign: []string{"modernc.org/sqlite"},
		},
		{packages: "internal/samples", test: true},
		{packages: "internal/scramble", test: true},
		{packages: "internal/trial", test: true},
		{packages: "internal/overdue", test: true},
		{packages: "internal/housetest", test: true},
	}
}
