package txns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/participants"
	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/sqld"
)

// errNoServer says what an address lacks.
var errNoServer = errors.New("want http://host:port")

// bed is what measurements of one run share: a folder, the participants, the
// database servers.
type bed struct {
	dir     string
	client  *http.Client
	parties *participants.Services
	sql     map[string]*sqld.Server
	places  int
	say     func(format string, args ...any)
}

// newBed makes a folder below dir, or where temporary files go, and starts the
// participants. Say is told which servers are started.
func newBed(ctx context.Context, dir string, say func(format string, args ...any)) (*bed, error) {
	dir, err := os.MkdirTemp(dir, "bedrock-bench-")
	if err != nil {
		return nil, err
	}
	b := &bed{
		dir: dir, sql: make(map[string]*sqld.Server), say: say,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}},
	}
	// PostgreSQL runs as somebody else when we are root, and must get to its data.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // its subfolders are closed
		return nil, errors.Join(err, b.close())
	}
	if b.parties, err = participants.Start(ctx, participants.Job{}); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close stops everything and removes the folder.
func (b *bed) close() error {
	if b.parties != nil {
		b.parties.Stop()
	}
	for _, server := range b.sql {
		server.Stop()
	}
	b.client.CloseIdleConnections()
	return os.RemoveAll(b.dir)
}

// place is an empty store for one measurement.
type place struct {
	// url is how Bedrock is told to use it, source how the floor is.
	url, source string
	// process is that of the store's server, 0 for none.
	process int
	// drop removes it.
	drop func()
}

// processes are those of the store's server, if there is one.
func (p *place) processes() []int {
	if p.process == 0 {
		return nil
	}
	return []int{p.process}
}

// place makes an empty store.
func (b *bed) place(ctx context.Context, store string) (*place, error) {
	b.places++
	name := fmt.Sprintf("bench%d", b.places)
	if store == "mariadb" || store == "postgres" {
		return b.database(ctx, store, name)
	}
	dir := filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	p := &place{url: dir, source: dir, drop: func() { _ = os.RemoveAll(dir) }}
	if store != "redis" {
		return p, nil
	}
	// A server for each measurement: an old log would be rewritten during the next.
	server, err := redisd.StartDurable(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &place{url: server.Addr, source: server.Addr, process: server.Process(), drop: func() {
		server.Stop()
		p.drop()
	}}, nil
}

// database makes an empty database on a server, which is started if need be.
func (b *bed) database(ctx context.Context, store, name string) (*place, error) {
	server, err := b.server(ctx, store)
	if err != nil {
		return nil, err
	}
	if err := server.Create(ctx, name); err != nil {
		return nil, err
	}
	return &place{
		url: server.URL(name), source: server.Place(name), process: server.Process(),
		drop: func() { dropDatabase(server, name) },
	}, nil
}

// server starts a database server unless it runs.
func (b *bed) server(ctx context.Context, store string) (*sqld.Server, error) {
	if server := b.sql[store]; server != nil {
		return server, nil
	}
	server, err := sqld.Start(ctx, store, b.dir)
	if err != nil {
		return nil, err
	}
	b.say("started %s %s", store, server.Version)
	b.sql[store] = server
	return server, nil
}

// dropDatabase makes room. What cannot be removed now goes with the server.
func dropDatabase(server *sqld.Server, name string) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = server.Drop(ctx, name)
}
