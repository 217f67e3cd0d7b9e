package subject

import (
	"fmt"
	"slices"
	"strings"
)

// Store is where locks are.
type Store int

// The stores.
const (
	Redis Store = iota
	Etcd
	ZooKeeper
	Postgres
	MariaDB
	SQLite
)

// storeNames are the stores' names, in the order of the stores.
func storeNames() []string {
	return []string{"redis", "etcd", "zookeeper", "postgres", "mariadb", "sqlite"}
}

// String is the store's name.
func (s Store) String() string { return storeNames()[s] }

// MarshalText makes the name its JSON.
func (s Store) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (s *Store) UnmarshalText(text []byte) (err error) {
	*s, err = FindStore(string(text))
	return err
}

// Stores returns all stores.
func Stores() []Store {
	return []Store{Redis, Etcd, ZooKeeper, Postgres, MariaDB, SQLite}
}

// FindStore returns the store of a name.
func FindStore(name string) (Store, error) {
	at := slices.Index(storeNames(), name)
	if at < 0 {
		return 0, fmt.Errorf("no store is called %q; there are: %s", name, strings.Join(storeNames(), ", "))
	}
	return Store(at), nil
}
