package sqlite

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// question is what is asked without writing anything.
type question func(ctx context.Context, s *session) error

// reader answers questions, on a connection of its own: it waits for nobody who writes.
type reader struct {
	file *file
	s    *session
	of   *identity // of the file that the session is for
}

// serveQuestions answers one question after the other.
func (r *reader) serveQuestions(requests []*batch.Request[question, struct{}]) {
	r.file.reading.Lock()
	defer r.file.reading.Unlock()
	for _, request := range requests {
		err := r.answerOnce(request.Want)
		if err != nil {
			r.drop() // it may have lost the file
		}
		request.Answer(struct{}{}, r.file.unwritten(err))
	}
}

func (r *reader) answerOnce(q question) error {
	if r.file.life.Err() != nil {
		return batch.ErrClosed
	}
	if err := r.connect(); err != nil {
		return err
	}
	if err := r.s.execute("BEGIN"); err != nil { // all that is read is of one moment
		return err
	}
	return errors.Join(q(context.Background(), r.s), r.s.execute("COMMIT"))
}

func (r *reader) connect() (err error) {
	if !r.file.same() { // who writes sees to it
		return fileMissing(r.file.path)
	}
	if now := r.file.is.Load(); r.s == nil || r.of != now {
		r.drop() // who writes may have seen first that there is another file
		r.of = now
		r.s, err = r.file.connect()
	}
	return err
}

func (r *reader) drop() {
	if r.s != nil {
		_ = r.s.close() // it is given up in any case
		r.s = nil
	}
}

// askFile has a question answered.
func (f *file) askFile(ctx context.Context, q question) error {
	if err := ctx.Err(); err != nil {
		return keeper.Unavailable(err)
	}
	_, err := f.reads.Do(ctx, q)
	if isEmptied(err) {
		if err = f.refill(ctx); err == nil {
			_, err = f.reads.Do(ctx, q)
		}
	}
	return unsent(err)
}

// refill has made anew what somebody has deleted, on behalf of those who only read: who writes nothing writes that.
func (f *file) refill(ctx context.Context) error {
	return f.Write(ctx, &keeper.Step{Decide: func(*ledger.Clock, []*ledger.State) {}})
}

// Read implements [keeper.Store].
func (f *file) Read(ctx context.Context, step *keeper.Step) error {
	return f.askFile(ctx, func(ctx context.Context, s *session) error {
		about, err := f.readAbout(ctx, s)
		if err != nil {
			return err
		}
		c := f.clock(&about)
		states := make([]*ledger.State, len(step.Names))
		for i, name := range step.Names {
			row, err := f.load(ctx, s, name, step.ID, &c, &about)
			if err != nil {
				return err
			}
			states[i] = row.State
		}
		step.Decide(&c, states)
		return nil
	})
}

// Held implements [keeper.Store].
func (f *file) Held(ctx context.Context, prefix, after string, n int) ([]string, error) {
	var names []string
	err := f.askFile(ctx, func(ctx context.Context, s *session) (err error) {
		names, err = f.layout.Held(ctx, s, prefix, after, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Identity implements [driver.Identifier].
func (b *backend) Identity(ctx context.Context) (string, error) {
	var about rows.About
	err := b.file.askFile(ctx, func(ctx context.Context, s *session) (err error) {
		about, err = b.file.readAbout(ctx, s)
		return err
	})
	if err != nil {
		return "", b.Describe("ask who is behind", b.file.path, err)
	}
	return "sqlite " + about.Store, nil
}
