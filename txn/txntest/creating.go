package txntest

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// creating: a transaction begins once.
func creating() []behaviour {
	return []behaviour{
		{"CreatedRecordIsIncomplete", createdRecordIsIncomplete},
		{"CreatorDoesNotKnowTheVersion", creatorDoesNotKnowTheVersion},
		{"UnknownRecordIsFound", func(e *env) { e.gone("nobody") }},
		{"SecondCreateOverwrites", secondCreateOverwrites},
		{"TwoCreatesBothSucceed", twoCreatesBothSucceed},
		{"CreateSharesMemory", createSharesMemory},
		{"DeletedIDStaysTaken", deletedIDStaysTaken},
	}
}

func createdRecordIsIncomplete(e *env) {
	rec := full("a")
	e.create(rec)
	want := full("a")
	want.Revision = 1
	e.same("the record created", e.load("a"), want)
}

// creatorDoesNotKnowTheVersion: who created a record goes on writing it without
// reading it first.
func creatorDoesNotKnowTheVersion(e *env) {
	rec := running("a")
	rec.Epoch = 1
	e.create(rec)
	if rec.Revision != 1 {
		e.Fatalf("after Create the record says revision %d, want 1", rec.Revision)
	}
	rec.State = []byte("more")
	e.update(rec)
	if rec.Revision != 2 {
		e.Fatalf("after Update the record says revision %d, want 2", rec.Revision)
	}
	e.same("the record updated", e.load("a"), rec)
}

func secondCreateOverwrites(e *env) {
	e.create(full("a"))
	before := e.load("a")
	second := running("a")
	second.Mode, second.Digest = "tcc", "another"
	if err := e.other.Create(e.ctx(), second); !errors.Is(err, driver.ErrExists) {
		e.Fatalf("create what exists: want ErrExists, got %v", err)
	}
	e.same("the record after a second create", e.load("a"), before)
	if second.Revision != 0 {
		e.Errorf("the refused record says revision %d, want 0", second.Revision)
	}
}

func twoCreatesBothSucceed(e *env) {
	const creators, records = 8, 20
	var won [records]atomic.Int32
	var winner [records]atomic.Int32
	var odd atomic.Value
	together(creators, func(i int) {
		for r := range records {
			rec := running(fmt.Sprint("r", r))
			rec.Digest = fmt.Sprint("of creator ", i)
			switch err := e.seat(i).Create(e.ctx(), rec); {
			case err == nil:
				won[r].Add(1)
				winner[r].Store(int32(i))
			case !errors.Is(err, driver.ErrExists):
				odd.Store(err)
			}
		}
	})
	if err := odd.Load(); err != nil {
		e.Fatalf("create: %v", err)
	}
	for r := range records {
		if n := won[r].Load(); n != 1 {
			e.Fatalf("%d of %d creators of one record succeeded, want 1", n, creators)
		}
		e.same("whose record it is", e.load(fmt.Sprint("r", r)).Digest, fmt.Sprint("of creator ", winner[r].Load()))
	}
}

func createSharesMemory(e *env) {
	rec := running("a")
	e.create(rec)
	want := e.load("a").Clone()
	rec.Spec[0], rec.State[0] = '#', '#'
	e.same("the record after its creator changed his own", e.load("a"), want)
	read := e.load("a")
	read.Spec[0], read.State[0] = '#', '#'
	e.same("the record after a reader changed his own", e.load("a"), want)
}

func deletedIDStaysTaken(e *env) {
	rec := final("a")
	e.create(rec)
	e.remove(1, rec)
	again := full("a")
	e.create(again)
	e.same("the record created again", e.load("a"), again)
}
