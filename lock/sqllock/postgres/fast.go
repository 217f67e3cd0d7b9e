package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// texts are the statements by which a mutex that nothing else is about takes one round trip.
type texts struct{ acquire, release, renew, tell, expect, due string }

func newTexts(table string) texts {
	replace := strings.NewReplacer("{t}", table, "{now}", sqlkind.Postgres.Clock())
	return texts{
		acquire: replace.Replace(acquireText), release: replace.Replace(releaseText), renew: replace.Replace(renewText),
		tell: replace.Replace(tellText), expect: replace.Replace(expectText), due: replace.Replace(dueText),
	}
}

// acquireText takes a mutex that is free, or the owner's: $1 name, $2 owner, $3 TTL, $4 tokens, $5 meta. If it is
// another's it returns whose, and nothing if others have it. It goes by one reading of the clock, which is
// EXCLUDED.since where there is a row.
//
// Whose it is stands in a setting that lasts for the statement: only the condition sees the row as it is when its turn
// has come. A query beside it would see the row as it was when the statement began, and tell of one who has gone.
const acquireText = `WITH got AS (
	INSERT INTO {t} AS l (name, token, owner, first, tokens, since, ends, meta, kind, touched)
	SELECT $1::text, a.base + a.n, $2::text, a.base + 1, a.n, a.now, a.now + $3::bigint, $5::text, 'mutex', a.now
	FROM (SELECT GREATEST(c.now - 1000, floor) AS base, LEAST($4::bigint, 1000) AS n, c.now
		FROM {t}_about, (SELECT {now} AS now) c) a
	ON CONFLICT (name) DO UPDATE SET
		token = CASE WHEN l.owner = $2::text AND l.ends > EXCLUDED.since THEN l.token
			ELSE GREATEST(l.token + 1, EXCLUDED.since) END,
		first = CASE WHEN l.owner = $2::text AND l.ends > EXCLUDED.since THEN l.first
			ELSE GREATEST(l.token + 1, EXCLUDED.since - LEAST($4::bigint, EXCLUDED.since - l.token) + 1) END,
		tokens = CASE WHEN l.owner = $2::text AND l.ends > EXCLUDED.since THEN l.tokens
			ELSE GREATEST(1, LEAST($4::bigint, EXCLUDED.since - l.token)) END,
		since = CASE WHEN l.owner = $2::text AND l.ends > EXCLUDED.since THEN l.since ELSE EXCLUDED.since END,
		meta = CASE WHEN l.owner = $2::text AND l.ends > EXCLUDED.since THEN l.meta ELSE EXCLUDED.meta END,
		owner = EXCLUDED.owner, ends = EXCLUDED.ends, kind = 'mutex', touched = EXCLUDED.since
	WHERE l.others = 0 AND (l.ends <= EXCLUDED.since OR l.owner = EXCLUDED.owner
		OR set_config('bedrock.held', (l.ends - EXCLUDED.since)::text || ' ' || l.owner, true) = '')
	RETURNING l.first, l.tokens
)
SELECT first, tokens, '' FROM got
UNION ALL
SELECT 0, 0, h.held FROM (SELECT current_setting('bedrock.held', true) AS held) h
WHERE NOT EXISTS (SELECT 1 FROM got) AND h.held <> ''`

// releaseText frees a mutex: $1 name, $2 owner, $3 channel, $4 what is told there if somebody may wait.
const releaseText = `UPDATE {t} SET owner = '', ends = 0, kind = '', touched = {now},
	freed = left(owner || CASE WHEN freed = '' THEN '' ELSE E'\n' || freed END, 1024)
WHERE name = $1::text AND owner = $2::text AND others = 0 AND ends > {now}
RETURNING CASE WHEN waited > {now} THEN pg_notify($3::text, $4::text)::text END`

// renewText lets mutexes live on whose time is not cut short: $1 names, $2 owners, $3 TTLs. It leaves out the rows that
// somebody has: for each it would wait with all the others. As it waits for nobody, one reading of the clock will do.
const renewText = `WITH mine AS (
	SELECT l.name, l.owner, c.now, c.now + u.ttl AS ends
	FROM {t} l JOIN unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, owner, ttl)
		ON l.name = u.name AND l.owner = u.owner, (SELECT {now} AS now OFFSET 0) c
	WHERE l.others = 0 AND l.ends > c.now AND l.ends <= c.now + u.ttl
	FOR NO KEY UPDATE OF l SKIP LOCKED
)
UPDATE {t} l SET ends = m.ends, touched = m.now FROM mine m WHERE l.name = m.name AND l.owner = m.owner
RETURNING l.name, l.owner`

// tellText tells of a change if somebody may wait: $1 channel, $2 what, $3 name.
const tellText = `SELECT pg_notify($1::text, $2::text) FROM {t} WHERE name = $3::text AND waited > {now}`

// expectText says that somebody waits for a name, for a while: $1 name, $2 for how long.
const expectText = `UPDATE {t} SET waited = {now} + $2::bigint WHERE name = $1::text`

// dueText finds which names will not be known to be waited for in a while, and whether they are now: $1 names, $2 what
// is a while. It writes nothing. Who is not known to be waited for may have a row that was made anew.
const dueText = `SELECT w.name, COALESCE(l.waited > {now}, false)
FROM unnest($1::text[]) AS w (name) LEFT JOIN {t} l ON l.name = w.name
WHERE COALESCE(l.waited <= {now} + $2::bigint, true)`

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return remote.Finish(ctx, b.Store, req.Name, func(ctx context.Context) (driver.Grant, error) {
		return b.acquire(ctx, req)
	})
}

func (b *backend) acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if req.CheckExclusive() != nil || driver.CheckOwner(req.Owner) != nil {
		return b.Backend.Acquire(ctx, req)
	}
	var g driver.Grant
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

// acquireAtOnce asks for a mutex by one statement, if that is enough to decide.
func (b *backend) acquireAtOnce(ctx context.Context, req *driver.Request) (g driver.Grant, decided bool, err error) {
	var first uint64
	var n int
	var held string
	err = b.Store.RunAlone(ctx, func(q rows.Querier) error {
		found, err := q.QueryContext(ctx, b.texts.acquire, req.Name, req.Owner, inMicros(req.TTL), req.Tokens, req.Meta)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			if err := found.Scan(&first, &n, &held); err != nil {
				return err
			}
			decided = true
		}
		return errors.Join(found.Err(), found.Close())
	})
	switch {
	case err != nil:
		return g, false, b.Store.Outcome(ctx, err)
	case !decided:
		return g, false, nil
	case n == 0:
		left, owner, _ := strings.Cut(held, " ")
		micros, err := strconv.ParseInt(left, 10, 64)
		return g, true, errors.Join(err, &driver.HeldError{Owner: owner, TTL: time.Duration(micros) * time.Microsecond})
	}
	g = req.Ungranted()
	g.Token, g.Tokens = first, n
	return g, true, nil
}

func inMicros(d time.Duration) int64 { return int64((d + time.Microsecond - 1) / time.Microsecond) }

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	err = b.Store.InRoom(ctx, g.Name, func(ctx context.Context) (err error) {
		waiting, err = b.release(ctx, g)
		return err
	})
	return waiting, err
}

func (b *backend) release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if g.Mode != driver.Exclusive || ctx.Err() != nil || driver.CheckOwner(g.Owner) != nil {
		return b.Backend.Release(ctx, g)
	}
	freed := false
	err = b.Store.Run(ctx, func() error {
		rows, err := b.Store.DB.QueryContext(
			ctx, b.texts.release, g.Name, g.Owner, b.hub.channel, payloadOf(g.Name, ""),
		)
		if err != nil {
			return b.Store.Outcome(ctx, err)
		}
		defer rows.Close()
		freed = rows.Next()
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return b.Store.Outcome(ctx, err)
		}
		return nil
	})
	if err == nil && !freed {
		return b.Backend.Release(ctx, g)
	}
	return 0, b.Describe("release", g.Name, err)
}

// Renew implements [driver.Backend].
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	b.hub.endSearch()
	var at []int
	var names, owners []string
	var ttls []int64
	for i := range grants {
		if g := &grants[i]; g.Mode == driver.Exclusive && driver.CheckOwner(g.Owner) == nil {
			at, names = append(at, i), append(names, g.Name)
			owners, ttls = append(owners, g.Owner), append(ttls, inMicros(g.TTL))
		}
	}
	errs := make([]error, len(grants))
	renewed := make(map[[2]string]bool) // by name and owner: one owner may have several
	var failure error
	if len(at) > 0 && ctx.Err() == nil {
		failure = b.Store.Run(ctx, func() error {
			found, err := b.renewAtOnce(ctx, names, owners, ttls)
			for _, of := range found {
				renewed[of] = true
			}
			return err
		})
	}
	var rest []int
	for i := range grants {
		switch plain := len(at) > 0 && at[0] == i; {
		case plain && failure != nil:
			at, errs[i] = at[1:], b.Describe("renew", grants[i].Name, failure)
		case plain && renewed[[2]string{grants[i].Name, grants[i].Owner}]:
			at = at[1:]
		case plain:
			at, rest = at[1:], append(rest, i)
		default:
			rest = append(rest, i)
		}
	}
	b.renewRest(ctx, grants, rest, errs)
	return errs
}

// renewRest renews what one statement did not: somebody has its row, it is of another mode, is cut short, or is lost.
func (b *backend) renewRest(ctx context.Context, grants []driver.Grant, rest []int, errs []error) {
	if len(rest) == 0 {
		return
	}
	some := make([]driver.Grant, len(rest))
	for i, at := range rest {
		some[i] = grants[at]
	}
	for i, err := range b.Backend.Renew(ctx, some) {
		errs[rest[i]] = err
	}
}

func (b *backend) renewAtOnce(ctx context.Context, names, owners []string, ttls []int64) ([][2]string, error) {
	rows, err := b.Store.DB.QueryContext(ctx, b.texts.renew, names, owners, ttls)
	if err != nil {
		return nil, b.Store.Outcome(ctx, err)
	}
	defer rows.Close()
	var renewed [][2]string
	for rows.Next() {
		var of [2]string
		if err := rows.Scan(&of[0], &of[1]); err != nil {
			return nil, err
		}
		renewed = append(renewed, of)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, b.Store.Outcome(ctx, err)
	}
	return renewed, nil
}
