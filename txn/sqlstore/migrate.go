package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Migrate implements [driver.Migrator]. Processes that start together do it one
// after the other. A schema newer than this code is refused.
func (s *Store) Migrate(ctx context.Context) (from, to int, err error) {
	if err := s.open(ctx); err != nil {
		return 0, 0, s.wrap(ctx, "migrate", err)
	}
	err = s.dialect.Alone(ctx, s.opts.Table, func(q Querier) error {
		from, to, err = s.migrate(ctx, q)
		return err
	})
	if err != nil {
		return 0, 0, s.wrap(ctx, "migrate", Unwritten(err))
	}
	return from, to, nil
}

// migrate runs the scripts that have not run yet. MySQL cannot take a change of a
// schema back, so every statement can be run again.
func (s *Store) migrate(ctx context.Context, q Querier) (from, to int, err error) {
	scripts, err := s.scripts()
	if err != nil {
		return 0, 0, err
	}
	create := "CREATE TABLE IF NOT EXISTS {tx}_schema (version INT NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)"
	if _, err := q.ExecContext(ctx, s.sql(create)); err != nil {
		return 0, 0, fmt.Errorf("create table of versions: %w", err)
	}
	from, err = s.version(ctx, q)
	if err != nil {
		return 0, 0, err
	}
	if from > len(scripts) {
		return 0, 0, s.tooNew(from, len(scripts))
	}
	for i, script := range scripts[from:] {
		if err := s.migrateTo(ctx, q, from+i+1, script); err != nil {
			return 0, 0, fmt.Errorf("to version %d: %w", from+i+1, err)
		}
	}
	return from, len(scripts), nil
}

// migrateTo runs one script and records that.
func (s *Store) migrateTo(ctx context.Context, q Querier, version int, script string) error {
	for statement := range strings.SplitSeq(script, ";\n") {
		statement = strings.ReplaceAll(strings.TrimSpace(statement), defaultTable, s.opts.Table)
		if statement == "" {
			continue
		}
		if _, err := q.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := q.ExecContext(
		ctx, s.sql("INSERT INTO {tx}_schema (version, applied) VALUES (?, ?)"), version, Micros(time.Now()),
	)
	return err
}

// checkSchema wants the schema to be the one this code needs.
func (s *Store) checkSchema(ctx context.Context) error {
	scripts, err := s.scripts()
	if err != nil {
		return err
	}
	version, err := s.version(ctx, s.db.Read)
	switch {
	case err != nil:
		return fmt.Errorf(
			"read version of the schema of %s, which may have to be migrated first: %w", s.opts.Table, err,
		)
	case version < len(scripts):
		return fmt.Errorf(
			"schema of %s has version %d, this code needs %d: migrate it first", s.opts.Table, version, len(scripts),
		)
	case version > len(scripts):
		return s.tooNew(version, len(scripts))
	default:
		return nil
	}
}

func (s *Store) version(ctx context.Context, q Querier) (version int, err error) {
	row := q.QueryRowContext(ctx, s.sql("SELECT COALESCE(MAX(version), 0) FROM {tx}_schema"))
	return version, row.Scan(&version)
}

func (s *Store) tooNew(version, known int) error {
	return fmt.Errorf("schema of %s has version %d, this code knows %d: it was migrated by a newer one",
		s.opts.Table, version, known)
}

// scripts are the migrations, in their order.
func (s *Store) scripts() ([]string, error) {
	files := s.dialect.Migrations()
	names, err := fs.Glob(files, "*/*.sql")
	if err != nil {
		return nil, err
	}
	scripts := make([]string, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		scripts[i] = string(text)
	}
	return scripts, nil
}
