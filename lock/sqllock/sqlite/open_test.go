package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

func open(t *testing.T, path string, opts *sqlite.Options) *lock.Client {
	t.Helper()
	c, err := sqlite.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

func openBackend(t *testing.T, path string, opts *sqlite.Options) driver.Backend {
	t.Helper()
	b, err := sqlite.OpenBackend(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func request(name, owner string) driver.Request {
	return driver.Request{Name: name, Owner: owner, TTL: time.Minute, Tokens: 1}
}
