package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Schema is the SQL that makes the tables, to be printed.
func (s *Store) Schema() string {
	about := fmt.Sprintf("INSERT INTO %s_about (id, version, store, boot, began, floor) VALUES (1, %d, %s, '', %s, 0)",
		s.Layout.Table, rows.Version, s.randomText(), s.Layout.Kind.Clock())
	return strings.Join(append(s.Layout.Schema(), about), ";\n\n") + ";\n"
}

// randomText is what the store is called.
func (s *Store) randomText() string {
	if s.Layout.Kind == sqlkind.MySQL {
		return "UUID()"
	}
	return "gen_random_uuid()"
}

// Migrate makes the tables if there are none. Many may do so at once.
func (s *Store) Migrate(ctx context.Context) error {
	return s.Unwritten(s.Dialect.Alone(ctx, s.DB, func(q rows.Querier) error {
		for _, statement := range s.Layout.Schema() {
			if _, err := q.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		found, there, err := s.Layout.About(ctx, q)
		if err != nil {
			return err
		}
		if there {
			return found.Check(s.Layout.Table)
		}
		now, err := s.Layout.ReadClock(ctx, q)
		if err != nil {
			return err
		}
		return s.Layout.Introduce(ctx, q, rows.About{Store: strings.ToLower(rand.Text()), Began: now})
	}))
}

// About is what the store said of itself when it was first asked.
func (s *Store) About() rows.About {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.about
}

func (s *Store) isLacking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacking
}

func (s *Store) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// Prepare sees to it that the tables are there, the first time.
func (s *Store) Prepare(ctx context.Context) error {
	if s.isReady() {
		return nil
	}
	select {
	case s.setUp <- struct{}{}:
	case <-ctx.Done():
		return keeper.Unavailable(ctx.Err())
	}
	defer func() { <-s.setUp }()
	if s.isReady() {
		return nil
	}
	about, err := s.findTables(ctx)
	if err != nil {
		return err
	}
	if err := about.Check(s.Layout.Table); err != nil {
		return driver.Refused(err)
	}
	if err := s.CheckConnections(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.about, s.ready, s.lacking = about, true, false
	return nil
}

// CheckConnections refuses connections by which no locks can be kept.
func (s *Store) CheckConnections(ctx context.Context) error {
	return s.Reading(ctx, func(q rows.Querier) error { return s.Dialect.Refuses(ctx, q) })
}

// findTables reads what the store says of itself, and makes the tables if there are none.
func (s *Store) findTables(ctx context.Context) (rows.About, error) {
	about, found, err := s.readAbout(ctx)
	if err == nil && found && !s.isLacking() || err != nil && !s.Dialect.IsMissing(err) {
		return about, err
	}
	if err := s.MakeMissing(ctx, s.Schema(), s.Migrate); err != nil {
		return about, err
	}
	about, found, err = s.readAbout(ctx)
	if err == nil && !found {
		err = fmt.Errorf("%s_about is empty", s.Layout.Table)
	}
	return about, s.Unwritten(err)
}

// MakeMissing makes tables that are not there, or says who has to.
func (s *Store) MakeMissing(ctx context.Context, schema string, makeTables func(context.Context) error) error {
	if s.AsIs {
		return fmt.Errorf("%w: the tables of locks are not there, and this program makes none. Have somebody run:\n%s",
			driver.ErrRefused, schema)
	}
	err := s.Repeat(ctx, func() error { return makeTables(ctx) })
	if err == nil || errors.Is(err, driver.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("the tables of locks are not there, and cannot be made (%w). Have somebody run:\n%s", err, schema)
}

func (s *Store) readAbout(ctx context.Context) (about rows.About, found bool, err error) {
	err = s.Reading(ctx, func(q rows.Querier) (err error) {
		about, found, err = s.Layout.About(ctx, q)
		return err
	})
	return about, found, err
}
