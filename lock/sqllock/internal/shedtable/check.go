package shedtable

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// tolerated is by how much clocks may differ.
const tolerated = time.Second

// CheckTable says what is wrong with the table. One in which locks cannot be kept is an error.
func (b *Backend) CheckTable(ctx context.Context) ([]driver.Finding, error) {
	s, err := b.inspectTable(ctx)
	if err != nil {
		return nil, err
	}
	var found []driver.Finding
	add := func(bad bool, level driver.Level, what, means string) {
		if bad {
			found = append(found, driver.Finding{Level: level, What: what, Means: means})
		}
	}
	apart, err := b.clocksApart(ctx)
	if err != nil {
		return nil, err
	}
	add(apart.Abs() > tolerated, driver.Warning,
		fmt.Sprintf("the database's clock and that of this machine are %s apart", apart.Abs().Round(time.Millisecond)),
		"locks go by the database's; who uses ShedLock without usingDbTime on such a machine takes what others have")
	add(s.columns["lock_until"].kind == "timestamp" && b.isMySQL(), driver.Notice, "lock_until is a TIMESTAMP",
		"every session has to be in UTC, those of other programs, too; DATETIME(3) has no zone")
	add(s.columns["name"].length < driver.MaxName, driver.Notice,
		fmt.Sprintf("names have %d characters at most", s.columns["name"].length), "longer ones are refused")
	return found, nil
}

// clocksApart is by how much the database's clock is ahead of this machine's, at least.
func (b *Backend) clocksApart(ctx context.Context) (time.Duration, error) {
	var micros int64
	before := time.Now()
	err := b.store.Reading(ctx, func(q rows.Querier) error {
		return scanEach(ctx, q, "SELECT "+b.store.Layout.Kind.Clock(), func(found *sql.Rows) error {
			return found.Scan(&micros)
		})
	})
	after, there := time.Now(), time.UnixMicro(micros)
	switch {
	case there.After(after):
		return there.Sub(after), err
	case there.Before(before):
		return there.Sub(before), err
	}
	return 0, err
}
