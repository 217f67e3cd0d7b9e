package mysql

import (
	"context"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// texts are the statements by which a mutex that nothing else is about takes one round trip. Each is about one row, by
// its key: two of them wait for each other, and never in a circle.
type texts struct{ acquire, holder, release, renew, free string }

func newTexts(table string) texts {
	replace := strings.NewReplacer(
		"{t}", table, "{now}", sqlkind.MySQL.Clock(), "{some}", sqlkind.Marks(namesAtOnce),
	)
	return texts{
		acquire: replace.Replace(acquireText), holder: replace.Replace(holderText),
		release: replace.Replace(releaseText), renew: replace.Replace(renewText), free: replace.Replace(freeText),
	}
}

// acquireText takes a mutex that is free, with all the tokens that are wanted. The newest of them is the clock, and
// told as if it were the number of a new row.
const acquireText = `UPDATE {t} SET first = {now} - ? + 1, tokens = ?, since = {now}, ends = {now} + ?, owner = ?,
	meta = ?, kind = 'mutex', touched = {now}, token = LAST_INSERT_ID({now})
WHERE name = ? AND others = 0 AND ends <= {now} AND token + ? <= {now}`

// holderText tells who has a mutex.
const holderText = `SELECT owner, ends - {now} FROM {t} WHERE name = ? AND others = 0 AND owner <> ''`

// releaseText frees a mutex.
const releaseText = `UPDATE {t} SET freed = LEFT(IF(freed = '', owner, CONCAT(owner, CHAR(10), freed)), 1024),
	owner = '', kind = '', touched = {now}, ends = 0
WHERE name = ? AND owner = ? AND others = 0 AND ends > {now}`

// Acquire implements [lockdriver.Backend].
func (b *backend) Acquire(ctx context.Context, req lockdriver.Request) (lockdriver.Grant, error) {
	return remote.Finish(ctx, b.Store, req.Name, func(ctx context.Context) (lockdriver.Grant, error) {
		return b.acquire(ctx, req)
	})
}

func (b *backend) acquire(ctx context.Context, req lockdriver.Request) (lockdriver.Grant, error) {
	if req.CheckExclusive() != nil || lockdriver.CheckOwner(req.Owner) != nil || !b.commitsItself(ctx) {
		return b.Backend.Acquire(ctx, req)
	}
	var g lockdriver.Grant
	var decided bool
	err := b.Store.Run(ctx, func() (err error) {
		for tries := 0; tries < remote.TriesAtOnce && !decided && err == nil; tries++ {
			g, decided, err = b.acquireAtOnce(ctx, &req)
		}
		return err
	})
	if err == nil && !decided {
		return b.Backend.Acquire(ctx, req)
	}
	return g, b.Describe("acquire", req.Name, err)
}

// commitsItself reports whether single statements are committed by themselves, as is usual.
func (b *backend) commitsItself(ctx context.Context) bool {
	const unknown, no, yes = 0, 1, 2
	if known := b.commits.Load(); known != unknown || ctx.Err() != nil {
		return known == yes
	}
	var own int
	err := b.Store.Reading(ctx, func(q rows.Querier) error {
		found, err := q.QueryContext(ctx, "SELECT @@autocommit")
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			if err := found.Scan(&own); err != nil {
				return err
			}
		}
		return found.Err()
	})
	if err != nil {
		return false
	}
	b.commits.Store(int32(no + own))
	return own == 1
}

// acquireAtOnce asks for a mutex by one statement, if that is enough to decide, and by another one who has it.
func (b *backend) acquireAtOnce(
	ctx context.Context, req *lockdriver.Request,
) (g lockdriver.Grant, decided bool, err error) {
	done, err := b.Store.Querier().ExecContext(ctx, b.texts.acquire, req.Tokens, req.Tokens, inMicros(req.TTL),
		req.Owner, req.Meta, req.Name, req.Tokens)
	if err != nil {
		return g, false, b.Store.Outcome(ctx, err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return b.refusal(ctx, req)
	}
	last, err := done.LastInsertId()
	if err != nil {
		return g, false, err
	}
	g = req.Ungranted()
	g.Token, g.Tokens = uint64(last)-uint64(req.Tokens)+1, req.Tokens
	return g, true, nil
}

// refusal says who has a mutex, if it is another.
func (b *backend) refusal(ctx context.Context, req *lockdriver.Request) (g lockdriver.Grant, decided bool, err error) {
	rows, err := b.Store.Querier().QueryContext(ctx, b.texts.holder, req.Name)
	if err != nil {
		return g, false, b.Store.Unwritten(err)
	}
	defer rows.Close()
	var owner string
	var left int64
	for rows.Next() {
		if err := rows.Scan(&owner, &left); err != nil {
			return g, false, b.Store.Unwritten(err)
		}
	}
	if err := rows.Err(); err != nil {
		return g, false, b.Store.Unwritten(err)
	}
	if owner == "" || owner == req.Owner || left <= 0 {
		return g, false, nil
	}
	return g, true, &lockdriver.HeldError{Owner: owner, TTL: time.Duration(left) * time.Microsecond}
}

func inMicros(d time.Duration) int64 { return int64((d + time.Microsecond - 1) / time.Microsecond) }

// Release implements [lockdriver.Backend].
func (b *backend) Release(ctx context.Context, g lockdriver.Grant) (waiting int, err error) {
	err = b.Store.InRoom(ctx, g.Name, func(ctx context.Context) (err error) {
		waiting, err = b.release(ctx, g)
		return err
	})
	return waiting, err
}

func (b *backend) release(ctx context.Context, g lockdriver.Grant) (waiting int, err error) {
	if !b.canBeAtOnce(ctx, &g) {
		return b.Backend.Release(ctx, g)
	}
	done := false
	err = b.Store.Run(ctx, func() (err error) {
		done, err = b.changeOne(ctx, b.texts.release, g.Name, g.Owner)
		return err
	})
	if err == nil && !done {
		return b.Backend.Release(ctx, g)
	}
	return 0, b.Describe("release", g.Name, err)
}

// canBeAtOnce reports whether one statement may be enough for a grant.
func (b *backend) canBeAtOnce(ctx context.Context, g *lockdriver.Grant) bool {
	return g.Mode == lockdriver.Exclusive && lockdriver.CheckOwner(g.Owner) == nil && b.commitsItself(ctx)
}

// changeOne changes one row, and reports whether it did.
func (b *backend) changeOne(ctx context.Context, text string, args ...any) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, keeper.Unavailable(err)
	}
	done, err := b.Store.Querier().ExecContext(ctx, text, args...)
	if err != nil {
		return false, b.Store.Outcome(ctx, err)
	}
	n, err := done.RowsAffected()
	return n > 0, err
}
