//go:build unix

package bank_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant"
)

// The letters of the service.
const (
	twice   = '2' // a call was delivered twice
	delayed = 'd' // a call was delivered late
)

// runService serves the accounts, and produces messages.
func runService(ctx context.Context, s *settings) error {
	a, err := openAccounts(ctx, s.Accounts)
	if err != nil {
		return err
	}
	seen, err := openEvidence(s.Evidence)
	if err != nil {
		return err
	}
	co, err := dialReplicas(s.Replicas)
	if err != nil {
		return err
	}
	defer co.Close()
	n := &nuisance{seen: seen}
	l, err := stage.Listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	p := &producer{accounts: a, co: co, service: "http://" + s.Addr}
	err = accounts.Serve(ctx, l, serviceRoutes(a, n, p))
	n.late.Wait()
	return errors.Join(err, a.DB.Close())
}

func serviceRoutes(a *accounts.Accounts, n *nuisance, p *producer) http.Handler {
	mux := http.NewServeMux()
	moves := n.around(participant.Handler(participantOf(a), nil))
	mux.Handle("POST /debit", moves)
	mux.Handle("POST /credit", moves)
	mux.Handle("POST /check", n.around(participant.Handler(a.Barrier.Check, nil)))
	mux.HandleFunc("POST /send", p.send)
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /pending", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, n.pending.Load()) })
	return mux
}

// nuisance is a network that delivers some calls twice, and some late.
type nuisance struct {
	seen    *evidence
	pending atomic.Int64
	late    sync.WaitGroup
}

// longest is how late a call may come: when its transaction may be over.
const longest = 1500 * time.Millisecond

func (n *nuisance) around(next http.Handler) http.Handler {
	return accounts.Repeatable(next, func(ctx context.Context, w http.ResponseWriter, deliver accounts.Delivery) {
		n.pending.Add(1)
		defer n.pending.Add(-1)
		switch roll := rand.IntN(100); {
		case roll < 5:
			n.again(ctx, deliver, 0)
		case roll < 10:
			n.again(ctx, deliver, rand.N(longest))
		case roll < 13:
			n.seen.add(delayed)
			sleep.For(ctx, rand.N(longest))
		}
		deliver(ctx, w)
	})
}

// again delivers a call a second time.
func (n *nuisance) again(ctx context.Context, deliver accounts.Delivery, after time.Duration) {
	n.seen.add(twice)
	n.pending.Add(1)
	n.late.Go(func() {
		defer n.pending.Add(-1)
		sleep.For(ctx, after)
		deliver(ctx, httptest.NewRecorder())
	})
}

// producer sends messages from its own local transactions.
type producer struct {
	accounts *accounts.Accounts
	co       txn.Coordinator
	service  string
}

// send answers 200 if the message was sent, 202 if it was left to the check, and
// 409 if there will be none.
func (p *producer) send(w http.ResponseWriter, r *http.Request) {
	var t transfer
	if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	err := p.transfer(ctx, &t)
	switch {
	case txn.Aborted(err):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		slog.Warn("message in doubt", "id", t.ID, "err", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case t.Fate == silent || t.Fate == silentNo:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (p *producer) transfer(ctx context.Context, t *transfer) error {
	local := p.accounts.Barrier.Local(func(ctx context.Context, tx *sql.Tx) error {
		return p.accounts.Move(ctx, tx, txn.Call{Transaction: t.ID, Branch: "debit", Op: "local"}, t.debit())
	})
	message := t.message(p.service)
	if t.Fate != silent && t.Fate != silentNo {
		_, err := message.Do(ctx, p.co, nil, local)
		return err
	}
	prepared, err := message.Prepare(ctx, p.co, nil)
	if err != nil || t.Fate == silentNo {
		return err
	}
	return local(ctx, prepared.ID())
}
