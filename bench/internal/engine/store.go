package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// open opens the job's store.
func open(ctx context.Context, job Job) (driver.Store, error) {
	switch job.Store {
	case "sqlite":
		return sqlite.Open(ctx, filepath.Join(job.Place, "bedrock.db"), nil)
	case "mariadb":
		return mysql.Open(ctx, job.Place, nil)
	case "postgres":
		return postgres.Open(ctx, job.Place, nil)
	case "redis":
		return openRedis(ctx, job.Place)
	default:
		return nil, fmt.Errorf("no store is called %q", job.Store)
	}
}

// redisStore closes the client with the store.
type redisStore struct {
	*redisstore.Store
	rdb *redis.Client
}

// Close implements driver.Store.
func (s redisStore) Close() error { return errors.Join(s.Store.Close(), s.rdb.Close()) }

func openRedis(ctx context.Context, addr string) (driver.Store, error) {
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	store, err := redisstore.New(ctx, goredis.Wrap(rdb), nil)
	if err != nil {
		return nil, errors.Join(err, rdb.Close())
	}
	return redisStore{store, rdb}, nil
}
