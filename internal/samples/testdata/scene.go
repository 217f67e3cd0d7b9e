// What the samples of the documentation take for granted: what a program has by the time
// it comes to the line that is shown.
package sample

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/lock"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
)

var (
	ctx   context.Context
	rdb   *redis.Client
	etcd  *clientv3.Client
	other rueidisclient.Client
	conn  redisconn.Conn
	db    *sql.DB
	locks *lock.Client
	lease *lock.Lease
	nodes []lockdriver.Backend
	pool  *pgxpool.Pool
	store driver.Store
	co    *coord.Coordinator
	rules *allow.Rules
	calls *httpcall.Caller
	b     *barrier.Barrier
	paid  *msg.Message

	scheduler *election.Election
	ready     *latch.Latch

	r      *http.Request
	tokens *auth.Tokens
)

type (
	Order struct {
		ID, Count int
		Item      string
	}
	Receipt struct{ Order int }
)

var (
	name       string
	prefix     string
	url        string
	limit      int
	order      Order
	payload    any
	definition txn.Definition
	tx         *sql.Tx
	shipping   *saga.Saga
)

func work(ctx context.Context) error                       { return nil }
func deduct(ctx context.Context, o Order) (Receipt, error) { return Receipt{}, nil }
func restore(ctx context.Context, tx *sql.Tx, o Order) (Receipt, error) {
	return Receipt{}, nil
}
func reserve(ctx context.Context) error                                    { return nil }
func save(ctx context.Context, tx *sql.Tx, o Order) error                  { return nil }
func saveUnder(ctx context.Context, t guard.Ticket, order io.Reader) error { return nil }
func ship(ctx context.Context, token uint64) error                         { return nil }
func saveOrder(ctx context.Context, o Order, id string) error              { return nil }

func open(testing.TB) locktest.Server                                { return locktest.Server{} }
func start(testing.TB, driver.Store, ...txn.Func) *coord.Coordinator { return nil }
func placeOrder(testing.TB, *coord.Coordinator) (id string)          { return "" }
