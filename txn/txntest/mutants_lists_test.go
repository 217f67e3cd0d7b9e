package txntest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// queried changes a query.
func queried(change func(*driver.Query)) func(*broken) {
	return func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]record, error) {
			change(&q)
			return b.Store.List(ctx, q)
		}
	}
}

// listed changes what a list answers.
func listed(change func([]record)) func(*broken) {
	return func(b *broken) {
		b.list = func(ctx context.Context, q driver.Query) ([]record, error) {
			recs, err := b.Store.List(ctx, q)
			change(recs)
			return recs, err
		}
	}
}

func brokenLists() map[string]func(*broken) {
	return map[string]func(*broken){
		"ListIsUnordered":    listed(slices.Reverse[[]record]),
		"PageRepeatsOrSkips": queried(func(q *driver.Query) { q.Before.ID = "" }),
		"PageDependsOnItsCursor": func(b *broken) {
			b.list = func(ctx context.Context, q driver.Query) ([]record, error) {
				if _, err := b.Store.Load(ctx, q.Before.ID); q.Before.ID != "" && err != nil {
					q.Prefix = "nothing"
				}
				return b.Store.List(ctx, q)
			}
		},
		"ListHasNoBound": queried(func(q *driver.Query) {
			if q.Limit == 0 {
				q.Limit = 1e6
			}
		}),
		"ListIsIncomplete": listed(func(recs []record) {
			for _, rec := range recs {
				rec.Waits = ""
			}
		}),
		"BriefListHasBlobs":           queried(func(q *driver.Query) { q.Brief = false }),
		"StatusDoesNotSelect":         queried(func(q *driver.Query) { q.Status = nil }),
		"ModeDoesNotSelect":           queried(func(q *driver.Query) { q.Modes = nil }),
		"NameDoesNotSelect":           queried(func(q *driver.Query) { q.Name = "" }),
		"PrefixIsAPattern":            queried(func(q *driver.Query) { q.Prefix = strings.TrimRight(q.Prefix, "%_*") }),
		"ParkedDoesNotSelect":         queried(func(q *driver.Query) { q.Parked = false }),
		"FinishedBeforeDoesNotSelect": queried(func(q *driver.Query) { q.FinishedBefore = time.Time{} }),
		"SelectionBreaksPages": queried(func(q *driver.Query) {
			if q.Before.ID != "" {
				q.Modes = nil
			}
		}),
		"KeptRecordIsListed": func(b *broken) {
			b.list = func(ctx context.Context, q driver.Query) ([]record, error) {
				recs, err := b.Store.List(ctx, q)
				if rec, missing := b.Store.Load(ctx, "a/topic"); missing == nil {
					recs = append(recs, rec)
				}
				return recs, err
			}
		},
		"SelectionMissesAChange": updated(func(_ *driver.Version, rec, stored record) { rec.Status = stored.Status }),
		"StoreDiffersFromTheReference": queried(func(q *driver.Query) {
			if q.Parked && q.Name != "" {
				q.Name = ""
			}
		}),
		"DeletedRecordStays": func(b *broken) {
			b.remove = func(_ context.Context, refs []driver.Ref) (int, error) { return len(refs), nil }
		},
		"UnfinishedRecordIsDeleted": func(b *broken) {
			b.remove = func(ctx context.Context, refs []driver.Ref) (int, error) { return b.force(ctx, refs) }
		},
		"ChangedRecordIsDeleted": func(b *broken) {
			b.remove = func(ctx context.Context, refs []driver.Ref) (int, error) { return b.force(ctx, refs) }
		},
		"BatchDeletesTooMuchOrTooLittle": func(b *broken) {
			b.remove = func(ctx context.Context, refs []driver.Ref) (int, error) {
				return b.Store.Delete(ctx, refs[:min(len(refs), 100)])
			}
		},
		"NothingIsDeletedWrongly": func(b *broken) {
			b.remove = func(ctx context.Context, _ []driver.Ref) (int, error) {
				return b.force(ctx, []driver.Ref{{ID: "a"}})
			}
		},
	}
}

// force deletes whatever there is.
func (b *broken) force(ctx context.Context, refs []driver.Ref) (int, error) {
	for i, ref := range refs {
		rec, err := b.Store.Load(ctx, ref.ID)
		if err != nil {
			continue
		}
		rec.Status = driver.Committed
		if err := b.Store.Update(ctx, rec.Version(), rec); err != nil {
			return 0, err
		}
		refs[i].Version = rec.Version()
	}
	return b.Store.Delete(ctx, refs)
}
