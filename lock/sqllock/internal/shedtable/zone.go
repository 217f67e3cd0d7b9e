package shedtable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// check refuses a table in which locks cannot be kept.
func (t *Table) check(ctx context.Context, s *shape) error {
	for name, length := range wantedColumns() {
		c, there := s.columns[name]
		if !there {
			return fmt.Errorf("%w: table %s has no column %s, which ShedLock's has", driver.ErrRefused,
				t.store.Layout.Table, name)
		}
		if c.length < length {
			return fmt.Errorf("%w: column %s takes %d characters, wanted are %d", driver.ErrRefused, name, c.length,
				length)
		}
	}
	return errors.Join(s.checkDigits(), t.checkZone(ctx, s))
}

// checkDigits refuses columns that do not keep milliseconds: a lock would be free before its time is over.
func (s *shape) checkDigits() error {
	const milliseconds = 3
	for _, name := range []string{"lock_until", "locked_at"} {
		if c := s.columns[name]; c.digits < milliseconds {
			return fmt.Errorf("%w: column %s keeps %d digits of a second, wanted are %d: its type must be "+
				"DATETIME(3) in MySQL and MariaDB, TIMESTAMP(3) in PostgreSQL", driver.ErrRefused, name, c.digits,
				milliseconds)
		}
	}
	return nil
}

// checkZone refuses columns whose times are another's in a session with another time zone: a lock that is held would
// look free there, or one that is free be held for hours.
func (t *Table) checkZone(ctx context.Context, s *shape) error {
	for _, name := range []string{"lock_until", "locked_at"} {
		switch kind := s.columns[name].kind; {
		case kind == "timestamp with time zone":
			return fmt.Errorf("%w: column %s is a %s, and ShedLock's libraries write times without one, in UTC: it "+
				"must be a timestamp without time zone", driver.ErrRefused, name, kind)
		case kind == "timestamp" && t.isMySQL():
			return t.checkSession(ctx, name)
		}
	}
	return nil
}

// inUTC tells of a zone whether a time of winter and one of summer are in it what they are in UTC.
const inUTC = "COALESCE(CONVERT_TZ('2026-01-01 00:00:00', {zone}, '+00:00') = '2026-01-01 00:00:00' AND " +
	"CONVERT_TZ('2026-07-01 00:00:00', {zone}, '+00:00') = '2026-07-01 00:00:00', 0)"

// checkSession checks that this session, and those of others, have their times in UTC: MySQL turns what is written to
// a TIMESTAMP from the session's zone.
func (t *Table) checkSession(ctx context.Context, column string) error {
	var here, usual, machine string
	var hereUTC, usualUTC bool
	query := "SELECT @@session.time_zone, @@global.time_zone, @@system_time_zone, " +
		strings.ReplaceAll(inUTC, "{zone}", "@@session.time_zone") + ", " +
		strings.ReplaceAll(inUTC, "{zone}", "@@global.time_zone")
	err := t.store.Reading(ctx, func(q rows.Querier) error {
		return scanEach(ctx, q, query, func(found *sql.Rows) error {
			return found.Scan(&here, &usual, &machine, &hereUTC, &usualUTC)
		})
	})
	if err != nil || hereUTC && usualUTC {
		return err
	}
	if usual == "SYSTEM" {
		usual = machine
	}
	return fmt.Errorf("%w: column %s is a TIMESTAMP, in which times are of the session's time zone; here that is %s, "+
		"and usually %s: locks would be free or held for hours, if only in summer. Have the server's time_zone be "+
		"+00:00, and say nothing else when you connect, or make the columns DATETIME(3)",
		driver.ErrRefused, column, here, usual)
}
