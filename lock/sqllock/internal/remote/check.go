package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// CheckRights adds to what was found which rights this account lacks, and what does not work without them. It tries, by
// statements that change nothing.
func (s *Store) CheckRights(
	ctx context.Context, found []driver.Finding, rights []rows.Right,
) ([]driver.Finding, error) {
	var lacks []lack
	for _, r := range rights {
		if len(lacks) > 0 && lacks[len(lacks)-1].hides(&r) {
			continue
		}
		err := s.tryRight(ctx, &r)
		refusal := s.Unwritten(err)
		switch {
		case err == nil:
		case errors.Is(refusal, driver.ErrRefused):
			lacks = addLack(lacks, &r, err)
		case !slices.ContainsFunc(found, isDanger): // such as that the server takes no writes
			return nil, refusal
		}
	}
	for i := range lacks {
		found = append(found, lacks[i].finding())
	}
	return found, nil
}

func isDanger(f driver.Finding) bool { return f.Level == driver.Danger }

// tryRight tries it in a transaction of its own: one in which a statement has failed says nothing of others.
func (s *Store) tryRight(ctx context.Context, r *rows.Right) error {
	tx, err := s.beginTx(ctx, s.Dialect.Begin)
	if err != nil {
		return err
	}
	defer tx.RollBack(ctx)
	_, err = tx.ExecContext(ctx, r.Try)
	return err
}

// lack is that of rights to one table, without which the same does not work.
type lack struct {
	first rows.Right
	names []string
	cause error
}

// hides reports whether nothing can be said of a right, since the table cannot even be read.
func (l *lack) hides(r *rows.Right) bool { return l.first.Name == "SELECT" && l.first.Table == r.Table }

func addLack(all []lack, r *rows.Right, cause error) []lack {
	if n := len(all); n > 0 && all[n-1].first.Table == r.Table && all[n-1].first.Lack == r.Lack {
		all[n-1].names = append(all[n-1].names, r.Name)
		return all
	}
	return append(all, lack{*r, []string{r.Name}, cause})
}

func (l *lack) finding() driver.Finding {
	return driver.Finding{
		Level: l.first.Level, Means: l.first.Lack,
		What: fmt.Sprintf("this account lacks %s on %s: %v", strings.Join(l.names, ", "), l.first.Table, l.cause),
	}
}

// OrLack returns what was found; the lack of a right, if it is that for which no more could be looked at.
func (s *Store) OrLack(found []driver.Finding, err error) ([]driver.Finding, error) {
	if err == nil || !s.Dialect.IsDenied(err) {
		return found, err
	}
	return []driver.Finding{{
		Level: driver.Danger, What: fmt.Sprintf("this account lacks rights: %v", err), Means: "it takes no locks",
	}}, nil
}
