package postgres_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// lockedRowKeepsOthers has somebody be at the rows of some mutexes for as long as he likes: the others are renewed.
func lockedRowKeepsOthers(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	grants := make([]driver.Grant, 40)
	for i := range grants {
		var err error
		if grants[i], err = b.Acquire(t.Context(), sqltest.Request(strconv.Itoa(i), "o:1")); err != nil {
			t.Fatal(err)
		}
	}
	grants[9].TTL /= 2 // which takes a transaction: its row is free
	tx, err := site.Connect(t, dsn).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(),
		"SELECT 1 FROM bedrock_locks WHERE name IN ('7', '8') FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for i, err := range b.Renew(ctx, grants) {
		if locked := i == 7 || i == 8; locked != (err != nil) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	for i, err := range b.Renew(t.Context(), grants) {
		if err != nil {
			t.Errorf("%d when nobody has it: %v", i, err)
		}
	}
}
