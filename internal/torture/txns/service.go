package txns

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant"
)

// service is the process with the accounts.
type service struct {
	*repairable

	book   *history.Writer
	co     txn.Coordinator
	url    string
	random func(n int) int

	// sick is the share of calls, in percent, that are answered with an error; stuck says
	// that functions do not return.
	sick  atomic.Int64
	stuck atomic.Bool
	late  sync.WaitGroup
}

// runService serves the accounts, and produces messages.
func runService(ctx context.Context, j *job) error {
	a, err := openAccounts(ctx, j.Accounts)
	if err != nil {
		return err
	}
	book, err := history.Create(j.Dir, j.Life)
	if err != nil {
		return err
	}
	co, err := dialReplicas(j.Replicas)
	if err != nil {
		return err
	}
	defer co.Close()
	s := &service{repairable: a, book: book, co: co, url: address(j.Addr), random: rand.IntN}
	l, err := stage.Listen(ctx, j.Addr)
	if err != nil {
		return err
	}
	err = accounts.Serve(ctx, l, s.routes())
	s.late.Wait()
	return errors.Join(err, a.DB.Close(), book.Close())
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	moves := s.nuisance(participant.Handler(s.witnessed(s.takePart), nil))
	mux.Handle("POST /debit", moves)
	mux.Handle("POST /credit", moves)
	mux.Handle("POST /note", moves)
	mux.Handle("POST /check", s.nuisance(participant.Handler(s.witnessed(s.check), nil)))
	mux.HandleFunc("POST /send", s.sendMessage)
	mux.HandleFunc("POST /repair", func(_ http.ResponseWriter, r *http.Request) { s.repair(r.FormValue("id")) })
	mux.HandleFunc("POST /sick", func(_ http.ResponseWriter, r *http.Request) {
		var share int64
		_ = json.Unmarshal([]byte(r.FormValue("share")), &share)
		s.sick.Store(share)
	})
	mux.HandleFunc("POST /stuck", func(_ http.ResponseWriter,
		r *http.Request,
	) {
		s.stuck.Store(r.FormValue("on") == "true")
	})
	mux.HandleFunc("GET /stuck", func(w http.ResponseWriter, _ *http.Request) {
		if s.stuck.Load() {
			w.WriteHeader(http.StatusLocked)
		}
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

// brokenCheck begins the IDs of messages whose producer cannot be asked until it is repaired.
const brokenCheck = "mute-"

func (s *service) check(ctx context.Context, call txn.Call) ([]byte, error) {
	if strings.HasPrefix(call.Transaction, brokenCheck) && !s.isRepaired(call.Transaction) {
		return nil, errBroken
	}
	return s.Barrier.Check(ctx, call)
}

// again marks a call that the network delivers once more.
type again struct{}

// witnessed writes down every call and its answer.
func (s *service) witnessed(f txn.Func) txn.Func {
	return func(ctx context.Context, call txn.Call) (result []byte, err error) {
		e := &event{
			Kind: kindCall, From: history.Now(), ID: call.Transaction, Branch: call.Branch, Op: call.Op,
			Attempt: call.Attempt, Epoch: call.Epoch, Answer: answerDone, Again: ctx.Value(again{}) != nil,
		}
		if int64(s.random(100)) < s.sick.Load() {
			err = errBroken
		} else {
			result, err = f(ctx, call)
		}
		switch {
		case txn.Aborted(err):
			e.Answer = answerRefused
		case err != nil:
			e.Answer = answerFailed
		}
		e.At = history.Now()
		s.book.Add(e)
		return result, err
	}
}

// longest is how late a call may come: when its transaction may be over.
const longest = 2 * time.Second

// nuisance is a network that delivers some calls twice, at once or late.
func (s *service) nuisance(next http.Handler) http.Handler {
	return accounts.Repeatable(next, func(ctx context.Context, w http.ResponseWriter, deliver accounts.Delivery) {
		if s.random(100) < 8 {
			after := time.Duration(s.random(int(longest)))
			s.late.Go(func() {
				sleep.For(ctx, after)
				deliver(context.WithValue(ctx, again{}, true), httptest.NewRecorder())
			})
		}
		deliver(ctx, w)
	})
}

// sendMessage makes a transfer by message: the debit is the producer's own local transaction.
// It answers 409 if there will be no message.
func (s *service) sendMessage(w http.ResponseWriter, r *http.Request) {
	var t transfer
	if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	switch err := s.produce(ctx, &t); {
	case txn.Aborted(err):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *service) produce(ctx context.Context, t *transfer) error {
	local := s.Barrier.Local(func(ctx context.Context, tx *sql.Tx) error {
		return s.Move(ctx, tx, txn.Call{Transaction: t.ID, Branch: "debit", Op: "local"}, t.debit())
	})
	message := t.message(s.url)
	if t.Fate != silent && t.Fate != silentNo && t.Fate != muted {
		_, err := message.Do(ctx, s.co, nil, local)
		return err
	}
	prepared, err := message.Prepare(ctx, s.co, nil)
	if err != nil || t.Fate == silentNo {
		return err
	}
	return local(ctx, prepared.ID())
}
