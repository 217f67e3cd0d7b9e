package bedrocktest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

func pay(op string) txn.Call {
	return txn.Call{Transaction: "order-1", Branch: "pay", Op: op, Mode: "saga", Attempt: 1}
}

// TestScriptIsPlayedOutOfOrder plays every scene there is, and then what follows.
func TestScriptIsPlayedOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := bedrocktest.NewParticipant()
		parts.On("pay action").Fail(2).Pending(1, time.Second).Hang(1).LoseReply(1).Done("receipt")
		parts.On("pay compensate").Fail(1).Refuse("too late")
		var got []string
		for range 7 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			result, err := parts.Func(ctx, pay("action"))
			cancel()
			got = append(got, string(result)+"|"+kindOf(err))
		}
		for range 3 {
			_, err := parts.Func(t.Context(), pay("compensate"))
			got = append(got, kindOf(err))
		}
		if _, err := parts.Func(t.Context(), pay("confirm")); err != nil {
			t.Errorf("without a script: %v", err)
		}
		want := `|failed |failed |pending |left |lost "receipt"|done "receipt"|done failed refused refused`
		if strings.Join(got, " ") != want {
			t.Errorf("%s\nwant %s", strings.Join(got, " "), want)
		}
		parts.Did(t, "pay action", "pay action", "pay action", "pay confirm")
	})
}

func kindOf(err error) string {
	_, pending := errors.AsType[*txn.PendingError](err)
	switch {
	case err == nil:
		return "done"
	case txn.Aborted(err):
		return "refused"
	case pending:
		return "pending"
	case errors.Is(err, context.DeadlineExceeded):
		return "left"
	case errors.Is(err, bedrocktest.ErrReplyLost):
		return "lost"
	default:
		return "failed"
	}
}

// TestScriptIsNoHTTP: the same participant behind a URL, and asked by many at once.
func TestScriptIsNoHTTP(t *testing.T) {
	parts := bedrocktest.NewParticipant()
	parts.On("pay action").Fail(10).Refuse("no money")
	service := httptest.NewServer(parts)
	defer service.Close()
	var askers sync.WaitGroup
	var mu sync.Mutex
	status := make(map[int]int)
	for range 20 {
		askers.Go(func() {
			call := pay("action")
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, service.URL, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header = header.Of(&call)
			res, err := service.Client().Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			mu.Lock()
			defer mu.Unlock()
			status[res.StatusCode]++
		})
	}
	askers.Wait()
	if status[http.StatusInternalServerError] != 10 || status[http.StatusConflict] != 10 {
		t.Errorf("%v", status)
	}
	if calls := parts.Calls(); len(calls) != 20 || calls[0].Transaction != "order-1" {
		t.Errorf("%d calls, the first %+v", len(calls), calls[0])
	}
}

// TestCallsAreMistaken: every assertion on calls holds, and fails when it should.
func TestCallsAreMistaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := bedrocktest.NewParticipant()
		parts.On("stock action").Fail(1)
		parts.On("pay action").Refuse("no money")
		co := start(t, memstore.New(nil), nil, parts)
		bedrocktest.RolledBack(t, co, submit(t, co, order(nil)))

		parts.Called(t, "stock action", "stock action", "pay action", "stock compensate")
		parts.Did(t, "stock action", "stock compensate")
		parts.CalledOnce(t, "pay action", "stock compensate")
		parts.NotCalled(t, "pay compensate")

		timeline := []string{"order-1  stock action      attempt 2  done", "refused: no money"}
		for want, assertion := range map[string]func(testing.TB){
			"called for: stock action, stock action, pay action, stock compensate; want stock": func(t testing.TB) {
				parts.Called(t, "stock action")
			},
			"want nothing": func(t testing.TB) { parts.Called(t) },
			"effective: stock action, stock compensate; want stock compensate": func(t testing.TB) {
				parts.Did(t, "stock compensate", "stock action")
			},
			"called 2 times for stock action": func(t testing.TB) {
				parts.CalledOnce(t, "stock action", "pay action")
			},
			"called 0 times for pay compensate": func(t testing.TB) { parts.CalledOnce(t, "pay compensate") },
			"called 1 times for pay action, want 0": func(t testing.TB) {
				parts.NotCalled(t, "pay compensate", "pay action")
			},
		} {
			complains(t, append([]string{want}, timeline...), assertion)
		}
	})
}

// TestOperationsAreMistyped: what a test says of an operation that no mode has would hold,
// whatever was called.
func TestOperationsAreMistyped(t *testing.T) {
	parts := bedrocktest.NewParticipant()
	for typed, hint := range map[string]string{
		"pay compensat": `"pay compensat" is no operation (did you mean compensate?); want check, or BRANCH and one of`,
		"pay do":        `"pay do" is no operation; want check, or BRANCH and one of action, compensate, try, confirm`,
		"pay":           `"pay" is no operation`,
		"":              `"" is no operation`,
		"action pay":    `"action pay" is no operation`,
		"action":        `"action" is no operation: whose action is it? Want BRANCH action`,
		"pay check":     `"pay check" is no operation`,
		"pay  action":   `"pay  action" is no operation`,
		" pay action":   `" pay action" is no operation`,
		"a seat action": `"a seat action" is no operation`,
	} {
		for _, assert := range []func(testing.TB, ...string){
			parts.Called, parts.Did, parts.CalledOnce, parts.NotCalled,
		} {
			complains(t, []string{hint}, func(t testing.TB) { assert(t, typed) })
		}
		panics(t, hint, func() { parts.On(typed) })
	}
	parts.NotCalled(t, "check", "ship/seat confirm", "pay hook:action")
	panics(t, "-1 times", func() { parts.On("pay action").Fail(-1) })
	if len(parts.Calls()) != 0 {
		t.Errorf("%v", parts.Calls())
	}
}

// TestAScriptGoesOnAfterItsEnd: what is never played would let a test pass that is about it.
func TestAScriptGoesOnAfterItsEnd(t *testing.T) {
	parts := bedrocktest.NewParticipant()
	ends := map[string]func(*bedrocktest.Script){
		"pay action":     func(s *bedrocktest.Script) { s.Done(nil) },
		"pay compensate": func(s *bedrocktest.Script) { s.Fail(1).Refuse("no money") },
		"pay try":        func(s *bedrocktest.Script) { s.Fail(bedrocktest.Always) },
		"pay confirm":    func(s *bedrocktest.Script) { s.Hang(0).LoseReply(bedrocktest.Always) },
	}
	for operation, end := range ends {
		end(parts.On(operation))
		for range 2 { // also when it is being played
			panics(t, "is never played", func() { parts.On(operation).Fail(1) })
			panics(t, "is never played", func() { parts.On(operation).Done(nil) })
			_, _ = parts.Func(t.Context(), pay(strings.TrimPrefix(operation, "pay ")))
			_, _ = parts.Func(t.Context(), pay(strings.TrimPrefix(operation, "pay ")))
		}
	}
	parts.On("pay cancel").Fail(1).Pending(1, time.Second)
	parts.On("pay cancel").Done(nil)
}

func panics(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		if told := fmt.Sprint(recover()); !strings.Contains(told, text) {
			t.Errorf("told %s, want %s", told, text)
		}
	}()
	f()
}
