package postgres_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

// renewalPassesABusyRow ends a transaction that has a row when the renewal of its lease waits for that: a row that many
// want is hardly ever free.
func renewalPassesABusyRow(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	var grants []driver.Grant
	for _, name := range []string{"a", "b"} { // one alone waits at once
		req := sqltest.Request(name, "o:1")
		req.Mode = driver.Shared
		g, err := b.Acquire(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	db := site.Connect(t, dsn)
	renewed := make(chan error, 1)
	err := driver.ErrUnavailable
	for errors.Is(err, driver.ErrUnavailable) { // on a late machine more than once
		leave := site.HaveRows(t, dsn, "a")
		go func() { renewed <- b.Renew(t.Context(), grants)[0] }()
		waitForBlocked(t, db, 1)
		leave()
		err = <-renewed
	}
	if err != nil {
		t.Error(err)
	}
}

// lockedRowsTakeASmallPool has somebody be at more rows than the pool has connections, of which one is lost after the
// other, and given back: leases whose rows are free go on.
func lockedRowsTakeASmallPool(t *testing.T, site *sqltest.Site, dsn string) {
	const size = 3
	db := site.Connect(t, dsn)
	db.SetMaxOpenConns(size)
	c, err := postgres.New(db, &postgres.Options{Lock: lock.Options{TTL: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	sqltest.StopAfter(t, c)
	var leases []*lock.Lease
	for i := range 10 {
		lease, err := c.Mutex(strconv.Itoa(i), nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, lease)
	}
	defer site.HaveRows(t, dsn, "0", "1", "2", "3")()
	for _, lease := range leases[:4] {
		<-lease.Context().Done() // it has been tried until the end
	}
	select { // as long as the others last
	case <-time.After(4 * time.Second):
	case <-leases[4].Context().Done():
	}
	for i, lease := range leases[4:] {
		if err := context.Cause(lease.Context()); err != nil {
			t.Errorf("%d, whose row is free: %v", 4+i, err)
		}
	}
}
