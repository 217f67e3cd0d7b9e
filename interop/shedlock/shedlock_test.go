package shedlock_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // a driver
	_ "github.com/jackc/pgx/v5/stdlib" // a driver
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

const (
	// version is of ShedLock.
	version = "6.9.2"
	// lease is for how long either side has a lock, unless it says so again.
	lease = 3 * time.Second
	// atOnce is the time within which one has the lock who is woken: no lease ends so soon.
	atOnce = lease / 2
	// rounds is how often everything is done.
	rounds = 20
)

// holdsAt has this program be another one, which holds a lock in the database there until it is killed.
const (
	holdsAt   = "BEDROCK_INTEROP_HOLDS_AT"
	holdsIn   = "BEDROCK_INTEROP_HOLDS_IN"
	holdsName = "BEDROCK_INTEROP_HOLDS_NAME"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(holdsAt); dsn != "" {
		holdForEver(os.Getenv(holdsIn), dsn, os.Getenv(holdsName))
	}
	flag.Bool(matrix.UpdateFlag, false, "write docs/interop-shedlock.md from what was played")
	goleak.VerifyTestMain(m)
}

// holdForEver is the program that is killed.
func holdForEver(driver, dsn, name string) {
	db, err := sql.Open(driver, dsn)
	if err == nil {
		var locks *lock.Client
		if locks, err = newClient(driver, db); err == nil {
			_, err = locks.Mutex(name, nil).Lock(context.Background())
		}
	}
	if err == nil {
		fmt.Fprintln(os.Stdout, "held")
		select {}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func newClient(driver string, db *sql.DB) (*lock.Client, error) {
	own := lock.Options{TTL: lease}
	if driver == "pgx" {
		return postgres.New(db, &postgres.Options{Profile: postgres.ShedLock, Lock: own})
	}
	return mysql.New(db, &mysql.Options{Profile: mysql.ShedLock, Lock: own})
}

// database is where both are.
type database struct {
	driver, dsn string
	jdbc        string
}

// together is Bedrock and ShedLock at one table.
type together struct {
	*testing.T

	at    matrix.Place
	mode  mode
	seen  *matrix.Matrix
	where database
	prog  *peer.Program
	locks *lock.Client
	java  *peer.Java
}

// mode is whose time Java uses.
type mode struct{ name, word string }

func modes() []mode {
	return []mode{{"usingDbTime", "database"}, {"time of the client", "client"}}
}

// tables are ShedLock's, as its documents have them.
const (
	tableOfPostgres = "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, " +
		"locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"
	tableOfMariaDB = "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, " +
		"locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL, " +
		"PRIMARY KEY (name))"
)

// startPostgres starts a server with the table.
func startPostgres(t *testing.T) database {
	t.Helper()
	s := testenv.StartPostgres(t, nil)
	s.CreateDatabase("jobs")
	d := database{
		driver: "pgx", dsn: s.DSN("jobs"), jdbc: "jdbc:postgresql://" + s.Addr() + "/jobs?sslmode=disable",
	}
	d.execute(t, tableOfPostgres)
	return d
}

// startMariaDB starts a server with the table.
func startMariaDB(t *testing.T) database {
	t.Helper()
	s := testenv.StartMariaDB(t, nil)
	s.CreateDatabase("jobs")
	d := database{driver: "mysql", dsn: s.DSN("jobs"), jdbc: "jdbc:mariadb://" + s.Addr() + "/jobs"}
	d.execute(t, tableOfMariaDB)
	return d
}

func (d *database) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d *database) execute(t *testing.T, statement string) {
	t.Helper()
	if _, err := d.open(t).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// java are the arguments of a program of Java.
func (d *database) java(m mode) []string { return []string{d.jdbc, "bedrock", "open-sesame", m.word} }

// TestShedLock plays all scenes with the real ShedLock, and compares what was seen with docs/interop-shedlock.md.
func TestShedLock(t *testing.T) {
	peer.CheckTools(t)
	sites := map[string]database{"PostgreSQL": startPostgres(t), "MariaDB": startMariaDB(t)}
	seen := &matrix.Matrix{
		Library: "ShedLock", File: "../../docs/interop-shedlock.md", Preface: preface, AtOnce: atOnce,
		Scenes: len(sites) * len(modes()) * len(scenes()),
	}
	source := peer.Source{Folder: ".", Properties: []string{"shedlock.version=" + version}, Main: "Peer"}
	some := sites["PostgreSQL"]
	program, err := source.Build(t.TempDir(), some.java(modes()[0])...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seen.Compare(t) })
	for topology, where := range sites {
		for _, m := range modes() {
			java := peer.Start(t, program, where.java(m)...)
			for name, play := range scenes() {
				t.Run(topology+"/"+m.word+"/"+name, func(t *testing.T) {
					e := &together{
						T: t, at: matrix.Place{Topology: topology, Version: version}, mode: m, seen: seen, where: where,
						prog: program, java: java.In(t),
					}
					e.locks = e.client()
					play(e)
					seen.Played(name, e.at)
				})
			}
		}
	}
}

// client returns one of Bedrock.
func (e *together) client() *lock.Client {
	e.Helper()
	locks, err := newClient(e.where.driver, e.where.open(e.T))
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), peer.Patience)
		defer cancel()
		if err := locks.Stop(ctx); err != nil {
			e.Error(err)
		}
	})
	return locks
}

// name is that of a lock which no other scene uses.
func (e *together) name(short string) string { return e.mode.word + "-" + strings.ToLower(short) }

// mutex is Go's, which is waited for.
func (e *together) mutex(name string) *lock.Mutex {
	return e.locks.Mutex(name, &lock.MutexOptions{Wait: peer.Patience})
}

// anotherGo starts a process of Bedrock that has a lock until it is killed.
func (e *together) anotherGo(name string) *exec.Cmd {
	e.Helper()
	program, err := os.Executable()
	if err != nil {
		e.Fatal(err)
	}
	dies := exec.CommandContext(e.Context(), program)
	dies.Env = append(os.Environ(), holdsAt+"="+e.where.dsn, holdsIn+"="+e.where.driver, holdsName+"="+name)
	out, err := dies.StdoutPipe()
	if err != nil {
		e.Fatal(err)
	}
	if err := dies.Start(); err != nil {
		e.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		e.Fatalf("the process that is to be killed has no lock: %v", err)
	}
	return dies
}

// take takes a lock that must be had soon.
func (e *together) take(m *lock.Mutex) *lock.Lease {
	e.Helper()
	l, err := m.Lock(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return l
}

func (e *together) unlock(l *lock.Lease) {
	e.Helper()
	if err := l.Unlock(e.Context()); err != nil {
		e.Fatal(err)
	}
}

// refused checks that Go cannot have a lock.
func (e *together) refused(name string) {
	e.Helper()
	l, err := e.locks.Mutex(name, nil).TryLock(e.Context())
	if err == nil {
		e.Fatalf("token %d was granted while Java has it", l.Token())
	}
	if !errors.Is(err, lock.ErrHeld) {
		e.Fatal(err)
	}
}
