package batch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/internal/underway"
)

type request = batch.Request[int, int]

// slow makes a batcher whose calls take a second, and answer with the square.
func slow(most int) (*batch.Batcher[int, int], *[]int) {
	sizes := new([]int)
	opts := batch.Options[int]{Workers: 1, Most: most, Size: func(want int) int { return max(1, want/100) }}
	return batch.New(opts, func() batch.Server[int, int] {
		return func(requests []*request) {
			*sizes = append(*sizes, len(requests))
			time.Sleep(time.Second)
			for _, r := range requests {
				if r.Want < 0 {
					r.Answer(0, errNegative)
				} else {
					r.Answer(r.Want*r.Want, nil)
				}
			}
		}
	}), sizes
}

var errNegative = errors.New("negative")

// TestAnswersAreMixedUp: everybody gets the answer to its own question, and those that
// wait while a call is under way share the next one.
func TestAnswersAreMixedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, sizes := slow(8)
		defer b.Close()
		for i := range 9 {
			go func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				got, err := b.Do(t.Context(), i-4)
				refused, right := errors.Is(err, errNegative), err == nil && got == (i-4)*(i-4)
				if i < 4 && !refused || i >= 4 && !right {
					t.Errorf("%d: %d, %v", i-4, got, err)
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(*sizes) != 2 || (*sizes)[0] != 1 || (*sizes)[1] != 8 {
			t.Errorf("calls of %v requests, want 1 and 8", *sizes)
		}
	})
}

// TestAnswerWaitsForTheOthers: a server that makes several calls answers after each, also
// those who have left.
func TestAnswerWaitsForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := batch.Options[int]{Workers: 1, Most: 8}
		b := batch.New(opts, func() batch.Server[int, int] {
			return func(requests []*request) {
				for _, r := range requests {
					time.Sleep(time.Second)
					r.Answer(r.Want, nil)
				}
			}
		})
		defer b.Close()
		began := time.Now()
		go func() { _, _ = b.Do(t.Context(), 0) }() // the others come together meanwhile
		for i := 1; i <= 3; i++ {
			synctest.Wait()
			go func() {
				ctx, leave := context.WithTimeout(t.Context(), time.Duration(i)*1100*time.Millisecond)
				defer leave()
				_, err := b.Do(ctx, i)
				if err != nil {
					<-leftError(t, err).Ended
				}
				if took := time.Since(began); took != time.Duration(i+1)*time.Second {
					t.Errorf("request %d: told after %v (%v)", i, took, err)
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
	})
}

// TestBatchGrowsWithoutEnd: what makes a batch too large waits for the next.
func TestBatchGrowsWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, sizes := slow(8)
		defer b.Close()
		for i := range 9 {
			go func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if _, err := b.Do(t.Context(), 300); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(*sizes) != 4 || (*sizes)[1] != 3 {
			t.Errorf("calls of %v requests, want 1, 3, 3 and 2", *sizes)
		}
	})
}

// TestLeavingIsTakenForNothing: the request of who leaves is taken back unless a call is
// under way for it, whose end is told.
func TestLeavingIsTakenForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, sizes := slow(8)
		ctx, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Do(ctx, 1); first <- err }()
		synctest.Wait()
		go func() { _, err := b.Do(ctx, 2); second <- err }()
		if request := leftError(t, <-second); request.Ended != nil || !errors.Is(request, context.DeadlineExceeded) {
			t.Errorf("what was waiting: %+v", request)
		}
		request := leftError(t, <-first)
		if request.Ended == nil || !errors.Is(request, context.DeadlineExceeded) {
			t.Fatalf("what was under way: %+v", request)
		}
		began := time.Now()
		<-request.Ended
		if took := time.Since(began); took != 990*time.Millisecond {
			t.Errorf("the call was told to have ended after %v", took)
		}
		b.Close()
		if len(*sizes) != 1 {
			t.Errorf("calls of %v requests, want one of one", *sizes)
		}
	})
}

// TestClosedBatcherHangs: who waits, and who comes later, hears of it.
func TestClosedBatcherHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := slow(8)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		synctest.Wait()
		go func() { _, err := b.Do(t.Context(), 2); second <- err }()
		synctest.Wait()
		began := time.Now()
		b.Close()
		b.Close()
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("closing took %v", took)
		}
		if request := leftError(t, <-first); request.Ended == nil || !errors.Is(request, batch.ErrClosed) {
			t.Errorf("what was under way: %+v", request)
		}
		if request := leftError(t, <-second); request.Ended != nil || !errors.Is(request, batch.ErrClosed) {
			t.Errorf("what was waiting: %+v", request)
		}
		for range 100 { // more than fit into the queue
			_, err := b.Do(t.Context(), 3)
			if request := leftError(t, err); request.Ended != nil || !errors.Is(request, batch.ErrClosed) {
				t.Errorf("what came later: %+v", request)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
	})
}

// TestClosedBatcherStarts: whoever comes after Close hears that nothing was done, and there is
// nobody who could do it: the first request may come that late.
func TestClosedBatcherStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workers := 0
		b := batch.New(batch.Options[int]{Workers: 1, Most: 8}, func() batch.Server[int, int] {
			workers++
			return func(requests []*request) { t.Errorf("a call of %d requests", len(requests)) }
		})
		b.Close()
		for range 100 { // what is ready at once is chosen at random
			_, err := b.Do(t.Context(), 3)
			if request := leftError(t, err); request.Ended != nil || !errors.Is(request, batch.ErrClosed) {
				t.Errorf("what came later: %+v", request)
			}
		}
		synctest.Wait()
		if workers != 0 {
			t.Errorf("%d workers were started", workers)
		}
	})
}

// leftError reads the error of who has left; Ended is nil if nothing was done.
func leftError(t *testing.T, err error) *underway.Error {
	t.Helper()
	if unsent, ok := errors.AsType[*batch.UnsentError](err); ok {
		return &underway.Error{Err: unsent.Err}
	}
	call, ok := errors.AsType[*underway.Error](err)
	if !ok || call.Ended == nil {
		t.Fatalf("want the error of who has left, got %v", err)
	}
	return call
}
