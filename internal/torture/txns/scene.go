package txns

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// scene is a store and what can be done to it.
type scene struct {
	settings

	url      string
	addr     string // where proxies lead to; empty: there can be none
	replicas int
	file     string // of a store that is a file
	faults   []nemesis.Fault
}

// build makes the scene of a plan. What it needs is started on the host.
func (p *Plan) build(host *stage.Host) (*scene, error) {
	s := &scene{settings: settings{Name: namePrefix + p.Start, Seed: p.Seed}, replicas: 2}
	if p.Store != "" {
		return s, s.theirs(p.Store)
	}
	return s, host.Try(func() {
		switch p.Start {
		case "sqlite":
			s.onFile(filepath.Join(p.Dir, "store.db"))
		case "postgres":
			server := testenv.StartPostgres(host, nil)
			server.CreateDatabase("torture")
			s.onDatabase(host, server, server.URL("torture"))
		case "mariadb":
			server := testenv.StartMariaDB(host, nil)
			server.CreateDatabase("torture")
			s.onDatabase(host, server, server.URL("torture"))
		case "redis":
			server := testenv.Redis(host, &testenv.RedisOptions{Persistence: testenv.PersistAOF})
			s.on(host, "redis://"+server.Addr(), server, func() { server.Restart(true) })
		}
	})
}

func (s *scene) onFile(path string) {
	s.url, s.file, s.replicas = "sqlite:"+path, path, 1
}

// theirs is a store that somebody else runs: only the ways to it are broken.
func (s *scene) theirs(url string) error {
	location, err := storeurl.Parse(url)
	if err != nil {
		return err
	}
	s.Name, s.url = "transactions at "+location.String(), url
	switch location.Kind {
	case storeurl.SQLite:
		return errors.New("torture has a SQLite file of its own: --start sqlite")
	case storeurl.Memory:
		return errors.New("torture needs a store that outlives a process")
	case storeurl.Redis, storeurl.Postgres, storeurl.MySQL:
		s.addr = stage.HostOf(url)
	}
	return nil
}

// database is what MariaDB and PostgreSQL have in common.
type database interface {
	stage.Steady

	Restart()
}

func (s *scene) onDatabase(host *stage.Host, server database, url string) {
	s.on(host, url, server, server.Restart)
}

func (s *scene) on(host *stage.Host, url string, server stage.Steady, restart func()) {
	s.url, s.addr = url, server.Addr()
	frozen, killed := stage.SteadyFaults(host, "store", server, restart)
	s.faults = []nemesis.Fault{frozen, killed}
}

// String is the scene's name.
func (s *scene) String() string { return fmt.Sprintf("%s, %d replicas", s.Name, s.replicas) }
