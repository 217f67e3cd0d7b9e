package rows

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// About is what the store says of itself.
type About struct {
	Version int
	// Store tells it from every other.
	Store string
	// Boot is the start of the machine by whose clock leases end; empty where the database has a clock.
	Boot string
	// Began is since when the store keeps all that it is told, by the clock of leases.
	Began int64
	// Floor is what the tokens of all names are above that are forgotten.
	Floor uint64
	// Now is the database's clock, 0 where it has none.
	Now int64
}

// About reads what the store says of itself.
func (l *Layout) About(ctx context.Context, q Querier) (a About, found bool, err error) {
	rows, err := q.QueryContext(ctx, l.texts.readAbout)
	if err != nil {
		return a, false, err
	}
	defer rows.Close()
	for rows.Next() { // to the end: what is left would be read without a context
		found = true
		if err := rows.Scan(&a.Version, &a.Store, &a.Boot, &a.Began, &a.Floor, &a.Now); err != nil {
			return a, found, err
		}
	}
	return a, found, rows.Err()
}

// Introduce writes what the store says of itself if nobody has done so before.
func (l *Layout) Introduce(ctx context.Context, q Querier, a About) error {
	text := "INSERT INTO {t}_about (id, version, store, boot, began, floor) VALUES (1, ?, ?, ?, ?, ?)"
	if l.Kind == sqlkind.MySQL {
		text = "INSERT IGNORE" + text[len("INSERT"):]
	} else {
		text += " ON CONFLICT (id) DO NOTHING"
	}
	_, err := q.ExecContext(ctx, l.text(text), Version, a.Store, a.Boot, a.Began, a.Floor)
	return err
}

// BeginBoot forgets all leases, which have ended with the start of the machine whose clock they went by.
func (l *Layout) BeginBoot(ctx context.Context, q Querier, boot string, now int64) error {
	for _, s := range []struct {
		text string
		args []any
	}{
		{"UPDATE {t} SET owner = '', ends = 0, others = CASE WHEN latch > 0 THEN 1 ELSE 0 END " +
			"WHERE owner <> '' OR others > 0", nil},
		{"DELETE FROM {t}_holders", nil},
		{"UPDATE {t}_about SET boot = ?, began = ?", []any{boot, now}},
	} {
		if _, err := q.ExecContext(ctx, l.text(s.text), s.args...); err != nil {
			return err
		}
	}
	return nil
}

// ReadClock reads the database's clock, in microseconds.
func (l *Layout) ReadClock(ctx context.Context, q Querier) (now int64, err error) {
	rows, err := q.QueryContext(ctx, "SELECT "+l.Kind.Clock())
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&now); err != nil {
			return 0, err
		}
	}
	return now, rows.Err()
}

// Check refuses a schema that is newer than this code.
func (a *About) Check(table string) error {
	if a.Version > Version {
		return fmt.Errorf("the schema of %s has version %d, this program knows %d: it was made by a newer one",
			table, a.Version, Version)
	}
	return nil
}
