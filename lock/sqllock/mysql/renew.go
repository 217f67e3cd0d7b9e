package mysql

import (
	"context"
	"slices"

	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
)

// renewText lets a mutex live on whose time is not cut short.
const renewText = `UPDATE {t} SET ends = {now} + ?, touched = {now}
WHERE name = ? AND owner = ? AND others = 0 AND ends > {now} AND ends <= {now} + ?`

// freeText tells which rows nobody has at this moment, of so many names.
const freeText = "SELECT name FROM {t} WHERE name IN ({some}) FOR UPDATE SKIP LOCKED"

// namesAtOnce is for how many names is asked at once. It is always as many: the statement is prepared once.
const namesAtOnce = 64

// Renew implements [lockdriver.Backend]. Those that one statement does not renew are of another mode, are cut short, or
// lost, or somebody has their row.
func (b *backend) Renew(ctx context.Context, grants []lockdriver.Grant) []error {
	errs := make([]error, len(grants))
	renewed := make([]bool, len(grants))
	plain := b.plainOnes(ctx, grants)
	keeper.SideBySide(len(plain), func(n int) {
		i := plain[n]
		done, err := b.renewAtOnce(ctx, &grants[i])
		renewed[i], errs[i] = done, b.Describe("renew", grants[i].Name, err)
	})
	var rest []int
	for i := range grants {
		if errs[i] == nil && !renewed[i] {
			rest = append(rest, i)
		}
	}
	some := make([]lockdriver.Grant, len(rest))
	for i, at := range rest {
		some[i] = grants[at]
	}
	for i, err := range b.Backend.Renew(ctx, some) {
		errs[rest[i]] = err
	}
	return errs
}

// plainOnes are those for which one statement may be enough, and that are likely to wait for nobody: a few that wait
// would keep all others from renewal.
func (b *backend) plainOnes(ctx context.Context, grants []lockdriver.Grant) []int {
	var plain []int
	var names []string
	for i := range grants {
		if b.canBeAtOnce(ctx, &grants[i]) {
			plain, names = append(plain, i), append(names, grants[i].Name)
		}
	}
	if len(plain) == 0 || len(grants) == 1 || !b.Store.SkipsTaken(ctx) {
		return plain
	}
	free := make(map[string]bool, len(names))
	for some := range slices.Chunk(names, namesAtOnce) {
		if b.findFree(ctx, some, free) != nil {
			break // the others are renewed with those whose row somebody has, which tells what is wrong
		}
	}
	return slices.DeleteFunc(plain, func(i int) bool { return !free[grants[i].Name] })
}

// findFree adds those names whose row nobody has.
func (b *backend) findFree(ctx context.Context, names []string, free map[string]bool) error {
	args := make([]any, namesAtOnce)
	for i := range args {
		args[i] = names[min(i, len(names)-1)]
	}
	return b.Store.Run(ctx, func() error {
		rows, err := b.Store.Querier().QueryContext(ctx, b.texts.free, args...)
		if err != nil {
			return b.Store.Unwritten(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return b.Store.Unwritten(err)
			}
			free[name] = true
		}
		return b.Store.Unwritten(rows.Err())
	})
}

func (b *backend) renewAtOnce(ctx context.Context, g *lockdriver.Grant) (renewed bool, err error) {
	err = b.Store.Run(ctx, func() (err error) {
		renewed, err = b.changeOne(ctx, b.texts.renew, inMicros(g.TTL), g.Name, g.Owner, inMicros(g.TTL))
		return err
	})
	return renewed, err
}
