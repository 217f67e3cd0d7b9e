package subject

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

const (
	// zkClient is the name of the client of those in Go.
	zkClient = "go-zookeeper"
	// zkSession is how long a session lives: as long as a server that is as it comes allows.
	zkSession = 40 * time.Second
)

// onZooKeeper returns those whose locks are in ZooKeeper.
func onZooKeeper() []Subject {
	return []Subject{
		{
			Name: "bedrock-zookeeper", Role: Bedrock, Store: ZooKeeper, Client: zkClient,
			Open: func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
				locks, err := zklock.Connect(ctx, []string{at.Addr}, &zklock.Options{Lock: lock.Options{TTL: lease}})
				return bedrockOf(locks, err, func() error { return nil })
			},
		},
		zkSubject("zk-lock", Peer, func(c *zk.Conn, path string) Mutex {
			return zkLock{zk.NewLock(c, path, zk.WorldACL(zk.PermAll))}
		}),
		curator(),
		zkSubject("raw-zookeeper", Raw, func(c *zk.Conn, path string) Mutex { return &rawNode{conn: c, folder: path} }),
	}
}

// zkSubject is one whose locks are made of a connection and a path.
func zkSubject(name string, role Role, mutex func(conn *zk.Conn, path string) Mutex) Subject {
	return Subject{
		Name: name, Role: role, Store: ZooKeeper, Client: zkClient,
		Open: func(ctx context.Context, at Site, _ time.Duration) (Locker, error) {
			conn, events, err := zk.Connect([]string{at.Addr}, zkSession, zk.WithLogger(silent{}))
			if err != nil {
				return nil, fmt.Errorf("connect to zookeeper at %s: %w", at.Addr, err)
			}
			return &zkLocker{conn: conn, mutex: mutex}, awaitSession(ctx, events)
		},
	}
}

// awaitSession waits until a connection has a session.
func awaitSession(ctx context.Context, events <-chan zk.Event) error {
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("connect to zookeeper: %w", ctx.Err())
		}
	}
}

// silent is a log that nobody reads.
type silent struct{}

// Printf implements [zk.Logger].
func (silent) Printf(string, ...any) {}

type zkLocker struct {
	conn  *zk.Conn
	mutex func(conn *zk.Conn, path string) Mutex
}

// Mutex implements Locker. No lock is below another: the client's own lock cannot bear what else is there.
func (l *zkLocker) Mutex(name string) Mutex {
	return l.mutex(l.conn, "/bench/"+strings.ReplaceAll(name, "/", "-"))
}

// Close implements Locker.
func (l *zkLocker) Close() error {
	l.conn.Close()
	return nil
}

// zkLock is the lock of the client itself, which knows no context.
type zkLock struct{ lock *zk.Lock }

// Lock waits until it has the lock, and gives it back if nobody wants it any more.
func (m zkLock) Lock(ctx context.Context) error {
	if err := m.lock.Lock(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		_ = m.lock.Unlock() // what is to be told is that it is too late
		return err
	}
	return nil
}

// Unlock implements Mutex.
func (m zkLock) Unlock(context.Context) error { return m.lock.Unlock() }

// rawNode makes a node, looks who is there, and deletes it: what the recipe of a lock needs at least.
type rawNode struct {
	conn         *zk.Conn
	folder, path string
}

// Lock fails when the lock is taken; it does not wait.
func (m *rawNode) Lock(context.Context) (err error) {
	if m.path == "" { // for the first time
		if err := m.makeFolders(); err != nil {
			return err
		}
	}
	m.path, err = m.conn.Create(m.folder+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return err
	}
	there, _, err := m.conn.Children(m.folder)
	if err == nil && len(there) > 1 {
		err = errTaken
	}
	return err
}

// makeFolders makes the folder and those it is in.
func (m *rawNode) makeFolders() error {
	for i := 1; i <= len(m.folder); i++ {
		if i < len(m.folder) && m.folder[i] != '/' {
			continue
		}
		_, err := m.conn.Create(m.folder[:i], nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll))
		if err != nil && err != zk.ErrNodeExists { //nolint:errorlint // they are not wrapped
			return err
		}
	}
	return nil
}

// Unlock implements Mutex.
func (m *rawNode) Unlock(context.Context) error { return m.conn.Delete(m.path, -1) }
