package locks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// fileFaults are those of a file: somebody else writes to it, and takes his time.
func fileFaults(path string) []nemesis.Fault {
	return []nemesis.Fault{{
		Name: "file locked", Excuses: nemesis.Excuses{Loss: true, Wait: true}, Weight: 2,
		Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
			return lockFile(ctx, path, nemesis.Between(random, 100*time.Millisecond, 3*time.Second))
		},
	}}
}

// lockFile keeps all others from writing to a file, for a time.
func lockFile(ctx context.Context, path string, d time.Duration) (e nemesis.Effect, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return e, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return e, errors.Join(err, db.Close())
	}
	sleep.For(ctx, d)
	e.Evidence = fmt.Sprintf("nobody else could write for %v", d.Round(time.Millisecond))
	return e, errors.Join(tx.Rollback(), db.Close())
}
