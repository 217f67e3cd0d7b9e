package rows

import (
	"context"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// Save writes what has changed of a state since it was read.
func (l *Layout) Save(ctx context.Context, q Querier, r *Row) error {
	if r.State.Forgotten {
		return l.forgetName(ctx, q, r)
	}
	for _, e := range r.before {
		if isElsewhere(&e) && find(r.State.Entries, &e) == nil {
			if _, err := q.ExecContext(ctx, l.texts.deleteEntry, r.State.Name, e.Role.String(), e.Owner); err != nil {
				return err
			}
		}
	}
	for i := range r.State.Entries {
		if err := l.saveEntry(ctx, q, r, &r.State.Entries[i]); err != nil {
			return err
		}
	}
	return l.saveName(ctx, q, r)
}

// answersKept is for how long answers are of any use, in microseconds: so long before a new one ends old ones are over.
const answersKept = int64(ledger.AnswersKept / time.Microsecond)

func (l *Layout) saveEntry(ctx context.Context, q Querier, r *Row, e *ledger.Entry) error {
	was := find(r.before, e)
	if !isElsewhere(e) || was != nil && *was == *e {
		return nil
	}
	text := l.texts.insertEntry
	if was != nil {
		text = l.texts.updateEntry
	}
	upgradeable := 0
	if e.Upgradeable {
		upgradeable = 1
	}
	if e.Role == ledger.Answer {
		_, err := q.ExecContext(ctx, l.texts.dropAnswers, r.State.Name, e.Role.String(), e.Until-answersKept)
		if err != nil {
			return err
		}
	}
	_, err := q.ExecContext(ctx, text, e.Mode.String(), e.Permits, upgradeable, int64(e.Token), e.Tokens, e.Since,
		e.Until, e.Place, e.Meta, e.Client, r.State.Name, e.Role.String(), e.Owner)
	return err
}

func (l *Layout) saveName(ctx context.Context, q Querier, r *Row) error {
	h := headerOf(r.State)
	if r.known && h == r.header || !r.known && len(r.State.Entries) == 0 && r.State.Touched == 0 {
		return nil
	}
	text := l.texts.insertName
	if r.known {
		text = l.texts.updateName
	}
	_, err := q.ExecContext(ctx, text, int64(h.token), h.owner, int64(h.first), h.tokens, h.since, h.ends, h.meta,
		h.client, h.kind, h.latch, h.permits, h.others, h.freed, h.touched, r.State.Name)
	return err
}

// forgetName drops a name of which only its tokens are worth remembering, and sees to it that they do not go back.
func (l *Layout) forgetName(ctx context.Context, q Querier, r *Row) error {
	for _, s := range []struct {
		text string
		arg  any
	}{
		{l.texts.raiseFloor, int64(r.State.Token)},
		{l.texts.deleteName, r.State.Name},
		{l.texts.deleteEntries, r.State.Name},
	} {
		if _, err := q.ExecContext(ctx, s.text, s.arg); err != nil {
			return err
		}
	}
	return nil
}

func headerOf(s *ledger.State) header {
	h := header{
		token: s.Token, latch: s.Count, permits: s.Limit, touched: s.Touched, freed: strings.Join(s.Freed, "\n"),
	}
	if s.Count > 0 {
		h.others++
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.Role == ledger.Answer {
			continue // they are read by their ID alone
		}
		if isElsewhere(e) {
			h.others++
			continue
		}
		h.owner, h.first, h.tokens, h.since, h.ends = e.Owner, e.Token, e.Tokens, e.Since, e.Until
		h.meta, h.client = e.Meta, e.Client
	}
	if h.owner != "" || h.others > 0 {
		h.kind = s.Kind().String()
	}
	return h
}

// isElsewhere reports whether an entry is a row of the second table.
func isElsewhere(e *ledger.Entry) bool { return e.Role != ledger.Holder || e.Mode != driver.Exclusive }

func find(entries []ledger.Entry, like *ledger.Entry) *ledger.Entry {
	for i := range entries {
		if e := &entries[i]; e.Role == like.Role && e.Owner == like.Owner {
			return e
		}
	}
	return nil
}
