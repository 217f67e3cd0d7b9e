package txntest

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

type record = *driver.Record

// mutants break a store, each so that one behaviour is to notice.
func mutants() map[string]func(*broken) {
	all := make(map[string]func(*broken))
	for _, some := range []map[string]func(*broken){
		brokenCreates(), brokenContents(), brokenUpdates(), brokenClaims(), brokenSharing(), brokenLists(),
		brokenEnds(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// created changes what Create is given.
func created(change func(record)) func(*broken) {
	return func(b *broken) {
		b.create = func(ctx context.Context, rec record) error {
			own := rec.Clone()
			change(own)
			err := b.Store.Create(ctx, own)
			rec.Revision = own.Revision
			return err
		}
	}
}

// updated changes what Update is given, in the knowledge of what is stored.
func updated(change func(was *driver.Version, rec, stored record)) func(*broken) {
	return func(b *broken) {
		b.update = func(ctx context.Context, was driver.Version, rec record) error {
			own := rec.Clone()
			if stored, err := b.Store.Load(ctx, rec.ID); err == nil {
				change(&was, own, stored)
			}
			err := b.Store.Update(ctx, was, own)
			if err == nil {
				rec.Revision = own.Revision
			}
			return err
		}
	}
}

// written changes what Create and Update are given.
func written(change func(record)) func(*broken) {
	return func(b *broken) {
		created(change)(b)
		updated(func(_ *driver.Version, rec, _ record) { change(rec) })(b)
	}
}

// loaded changes what Load answers.
func loaded(change func(record)) func(*broken) {
	return func(b *broken) {
		b.load = func(ctx context.Context, id string) (record, error) {
			rec, err := b.Store.Load(ctx, id)
			if err == nil {
				change(rec)
			}
			return rec, err
		}
	}
}

// asked changes what is claimed, and what is answered.
func asked(ask func(*driver.Claim), answer func(*broken, *driver.Claimed)) func(*broken) {
	return func(b *broken) {
		b.claim = func(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
			ask(&c)
			claimed, err := b.Store.Claim(ctx, c)
			answer(b, &claimed)
			return claimed, err
		}
	}
}

func brokenCreates() map[string]func(*broken) {
	existing := func(b *broken) {
		b.create = func(ctx context.Context, rec record) error {
			if err := b.Store.Create(ctx, rec); !errors.Is(err, driver.ErrExists) {
				return err
			}
			return nil
		}
	}
	return map[string]func(*broken){
		"CreatedRecordIsIncomplete": created(func(rec record) { rec.Deadline = time.Time{} }),
		"CreatorDoesNotKnowTheVersion": func(b *broken) {
			b.create = func(ctx context.Context, rec record) error { return b.Store.Create(ctx, rec.Clone()) }
		},
		"UnknownRecordIsFound": func(b *broken) {
			b.load = func(context.Context, string) (record, error) { return &driver.Record{}, nil }
		},
		"SecondCreateOverwrites": existing,
		"TwoCreatesBothSucceed":  existing,
		"CreateSharesMemory": func(b *broken) {
			var given record
			b.create = func(ctx context.Context, rec record) error {
				given = rec
				return b.Store.Create(ctx, rec)
			}
			b.load = func(context.Context, string) (record, error) { return given, nil }
		},
		"DeletedIDStaysTaken": func(b *broken) {
			b.remove = func(ctx context.Context, refs []driver.Ref) (int, error) {
				n, err := b.Store.Delete(ctx, refs)
				b.create = func(context.Context, record) error { return driver.ErrExists }
				return n, err
			}
		},
	}
}

func brokenContents() map[string]func(*broken) {
	return map[string]func(*broken){
		"ZeroTimeBecomesATime": loaded(func(rec record) {
			if rec.Due.IsZero() {
				rec.Due = time.Unix(0, 0)
			}
		}),
		"MicrosecondsAreLost": loaded(func(rec record) { rec.Deadline = rec.Deadline.Truncate(time.Millisecond) }),
		"ZoneShiftsATime": created(func(rec record) {
			_, offset := rec.Updated.Zone()
			rec.Updated = rec.Updated.Add(time.Duration(offset) * time.Second)
		}),
		"LargeBlobIsCut": written(func(rec record) { rec.State = rec.State[:min(len(rec.State), 1<<16)] }),
		"BytesOfABlobChange": loaded(func(rec record) {
			rec.State = []byte(strings.ToValidUTF8(string(rec.State), "?"))
		}),
		"EmptyBlobBecomesSomething": loaded(func(rec record) {
			if len(rec.State) == 0 {
				rec.State = []byte("null")
			}
		}),
		"IDsAreConfused": func(b *broken) {
			created(func(rec record) { rec.ID = strings.ToLower(rec.ID) })(b)
			b.load = func(ctx context.Context, id string) (record, error) {
				return b.Store.Load(ctx, strings.ToLower(id))
			}
		},
		"TextIsMangled": created(func(rec record) { rec.Name = strings.ReplaceAll(rec.Name, "№", "?") }),
		"LongTextIsCut": created(func(rec record) { rec.Parked = rec.Parked[:min(len(rec.Parked), 255)] }),
		"RefusalLooksPassing": func(b *broken) {
			b.update = func(ctx context.Context, was driver.Version, rec record) error {
				err := b.Store.Update(ctx, was, rec)
				if errors.Is(err, driver.ErrRefused) {
					return errors.New("the store is out of sorts") // as if it could pass the next time
				}
				return err
			}
		},
	}
}

func brokenUpdates() map[string]func(*broken) {
	revisionBlind := updated(func(was *driver.Version, _, stored record) { was.Revision = stored.Revision })
	reviving := func(b *broken) {
		b.update = func(ctx context.Context, was driver.Version, rec record) error {
			if _, err := b.Store.Load(ctx, rec.ID); err == nil {
				return b.Store.Update(ctx, was, rec)
			}
			return b.Store.Create(ctx, rec)
		}
	}
	return map[string]func(*broken){
		"UpdateIsIncomplete": updated(func(_ *driver.Version, rec, stored record) { rec.Owner = stored.Owner }),
		"SpecDoesNotGrow":    updated(func(_ *driver.Version, rec, _ record) { rec.Spec = nil }),
		"UnchangedSpecIsLost": updated(func(_ *driver.Version, rec, _ record) {
			if rec.Spec == nil {
				rec.Spec = []byte("null")
			}
		}),
		"StaleRevisionWrites": revisionBlind,
		"IncrementIsLost":     revisionBlind,
		"StaleEpochWrites":    updated(func(was *driver.Version, _, stored record) { was.Epoch = stored.Epoch }),
		"EarlierLifeWrites": updated(func(was *driver.Version, _, stored record) {
			was.Created = stored.Version().Created
		}),
		"UpdateCreates":          reviving,
		"DeletedRecordIsRevived": reviving,
		"ImmutableFieldChanges": func(b *broken) {
			var mode string
			updated(func(_ *driver.Version, rec, _ record) { mode = rec.Mode })(b)
			loaded(func(rec record) { rec.Mode = mode })(b)
		},
		"EpochIsNotRaised": updated(func(was *driver.Version, rec, _ record) { rec.Epoch = was.Epoch }),
		"UpdateSharesMemory": func(b *broken) {
			b.update = func(ctx context.Context, was driver.Version, rec record) error {
				b.load = func(context.Context, string) (record, error) { return rec, nil }
				return b.Store.Update(ctx, was, rec)
			}
		},
		"TwoUpdatesOfOneVersionSucceed": func(b *broken) {
			b.update = func(ctx context.Context, was driver.Version, rec record) error {
				if err := b.Store.Update(ctx, was, rec); !errors.Is(err, driver.ErrStale) {
					return err
				}
				return nil
			}
		},
		"UpdateLeavesTheOldDueTime": updated(func(_ *driver.Version, rec, stored record) { rec.Due = stored.Due }),
	}
}

func brokenEnds() map[string]func(*broken) {
	return map[string]func(*broken){
		"EndedContextIsIgnored": func(b *broken) {
			b.create = func(ctx context.Context, rec record) error {
				return b.Store.Create(context.WithoutCancel(ctx), rec)
			}
		},
		"UnsentWriteIsApplied": func(b *broken) {
			b.update = func(ctx context.Context, was driver.Version, rec record) error {
				err := b.Store.Update(ctx, was, rec)
				if string(rec.State) == "write 5" && rec.Epoch == was.Epoch {
					return driver.ErrUnavailable
				}
				return err
			}
		},
		"ClosedStoreAnswers": func(b *broken) { b.end = func() error { return nil } },
		"CloseLeavesACallBehind": func(b *broken) {
			var once sync.Once
			closed := make(chan struct{})
			b.end = func() error {
				once.Do(func() { close(closed) })
				return nil
			}
			b.load = func(ctx context.Context, id string) (record, error) {
				select {
				case <-closed:
					<-ctx.Done()
					return nil, ctx.Err()
				default:
					return b.Store.Load(ctx, id)
				}
			}
		},
		"CountIsWrong": func(b *broken) {
			b.count = func(ctx context.Context) (driver.Counts, error) {
				n, err := b.Store.Count(ctx)
				n.Parked = 0
				return n, err
			}
		},
		"KeptRecordIsCounted": func(b *broken) {
			b.count = func(ctx context.Context) (driver.Counts, error) {
				n, err := b.Store.Count(ctx)
				if _, missing := b.Store.Load(ctx, "a/topic"); missing == nil {
					n.ByStatus[driver.Open]++
				}
				return n, err
			}
		},
		"CountMissesAChange": func(b *broken) {
			b.count = func(ctx context.Context) (driver.Counts, error) {
				n, err := b.Store.Count(ctx)
				b.count = func(context.Context) (driver.Counts, error) { return n, err }
				return n, err
			}
		},
	}
}
