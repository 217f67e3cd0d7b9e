package stores

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/sqld"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// ErrTellsNothing says that a store does not count requests.
var ErrTellsNothing = errors.New("the store counts no requests")

// Meter reads how many requests a server has had.
type Meter struct {
	own   int64 // requests that a reading is
	read  func(ctx context.Context) (int64, error)
	close func() error

	readings int64
}

// OpenMeter connects to a store's server.
func OpenMeter(ctx context.Context, store subject.Store, addr string) (*Meter, error) {
	switch store {
	case subject.Redis:
		return redisMeter(ctx, addr)
	case subject.Etcd:
		read := func(ctx context.Context) (int64, error) { return etcdMessages(ctx, addr) }
		return &Meter{read: read, close: func() error { return nil }}, nil
	case subject.ZooKeeper:
		read := func(ctx context.Context) (int64, error) { return zookeeperRequests(ctx, addr) }
		return &Meter{own: 1, read: read, close: func() error { return nil }}, nil
	case subject.Postgres, subject.MariaDB:
		return databaseMeter(ctx, store, addr)
	default:
		return nil, ErrTellsNothing
	}
}

// Requests returns how many there were, without those of the meter itself.
func (m *Meter) Requests(ctx context.Context) (int64, error) {
	n, err := m.read(ctx)
	if err != nil {
		return 0, fmt.Errorf("read server counters: %w", err)
	}
	n -= m.own * m.readings
	m.readings++
	return n, nil
}

// Close disconnects.
func (m *Meter) Close() error { return m.close() }

func redisMeter(ctx context.Context, addr string) (*Meter, error) {
	monitor, err := redisd.Watch(ctx, addr)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context) (int64, error) {
		counters, err := monitor.Read(ctx)
		return counters.Commands, err
	}
	return &Meter{read: read, close: monitor.Close}, nil
}

// databaseMeter counts statements, or transactions where the server does not count those.
func databaseMeter(ctx context.Context, store subject.Store, addr string) (*Meter, error) {
	db, err := sqld.OpenPlace(store.String(), addr)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx) // which is not asked whether it is there each time
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	m := &Meter{own: 1, close: func() error { return errors.Join(conn.Close(), db.Close()) }}
	m.read = func(ctx context.Context) (n int64, err error) {
		if store == subject.Postgres {
			// What a session has done is counted when it has told, at its leisure.
			err = conn.QueryRowContext(ctx, `SELECT xact_commit + xact_rollback FROM pg_stat_database
				WHERE datname = current_database()`).Scan(&n)
			return n, err
		}
		var name string
		err = conn.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
		return n, err
	}
	if _, err := m.read(ctx); err != nil { // the first one is more than one request
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// etcdMessages counts the messages that clients have sent.
func etcdMessages(ctx context.Context, addr string) (total int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(name, "grpc_server_msg_received_total{") {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			total += int64(n)
		}
	}
	return total, lines.Err()
}

// zookeeperRequests counts those of clients that have a session.
func zookeeperRequests(ctx context.Context, addr string) (int64, error) {
	words, err := askZooKeeper(ctx, addr, "srvr")
	if err != nil {
		return 0, err
	}
	_, received, _ := strings.Cut(words, "Received: ")
	number, _, _ := strings.Cut(received, "\n")
	return strconv.ParseInt(number, 10, 64)
}
