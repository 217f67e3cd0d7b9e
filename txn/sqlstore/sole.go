package sqlstore

import "context"

// Sole is a [Dialect] that may know that nobody else has the database open, and that
// nobody can open it before the store is closed.
type Sole interface {
	// Sole reports whether that is so.
	Sole() bool
}

// inherit makes due what others were driving when they ended: there is no need to wait for
// the leases of the dead. A record that nobody drives, and that only waits for its time,
// goes on waiting; so does an open transaction, which is its beginner's until it is
// claimed.
func (s *Store) inherit(ctx context.Context) error {
	if d, ok := s.dialect.(Sole); !ok || !d.Sole() {
		return nil
	}
	now, err := s.dialect.Now(ctx, s.db.Write)
	if err != nil {
		return err
	}
	leased := "due > ? AND parked = '' AND owner > '' AND " + isUnderWay + " AND (epoch > 1 OR status <> 'open')"
	_, err = s.db.Write.ExecContext(ctx, s.sql("UPDATE {tx} SET due = ? WHERE "+leased), Micros(now), Micros(now))
	return err
}
