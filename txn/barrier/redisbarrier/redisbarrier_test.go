package redisbarrier_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/barrier/redisbarrier"
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testVerdicts)
}

func testVerdicts(t *testing.T, s *setup) {
	t.Helper()
	for forward, back := range map[string]string{
		"action": "compensate", "try": "cancel", "prepare": "rollback", "do": "undo",
	} {
		key := "stock:" + forward
		s.do(t, call(forward, forward), add, key, barrier.Ran, "first", 10, "first")
		s.do(t, call(forward, forward), add, key, barrier.Duplicate, "first", 10, "second")
		s.want(t, key, "10")
		s.do(t, call(forward, back), add, key, barrier.Ran, "undone", -10, "undone")
		s.do(t, call(forward, back), add, key, barrier.Duplicate, "undone", -10, "again")
		for attempt := 1; attempt < 4; attempt++ {
			late := call(forward, forward)
			late.Attempt = attempt
			s.do(t, late, add, key, barrier.Hanging, "", 10, "third")
		}
		s.do(t, call(forward, back), add, key, barrier.Duplicate, "undone", -10, "again")
		s.want(t, key, "0")

		empty := forward + ":empty"
		s.do(t, call(empty, back), add, key, barrier.EmptyCompensation, "", -10, "")
		s.do(t, call(empty, back), add, key, barrier.EmptyCompensation, "", -10, "")
		late := call(empty, forward)
		late.Attempt = 5
		s.do(t, late, add, key, barrier.Hanging, "", 10, "")
		s.want(t, key, "0")
	}
	s.do(t, call("m", "deliver"), add, "m", barrier.Ran, "x", 1, "x")
	s.do(t, call("m", "deliver"), add, "m", barrier.Duplicate, "x", 1, "y")
	_, _, err := s.b.Do(t.Context(), call("try:empty", "try"), add, []string{"stock:try"}, 1, "")
	if !errors.Is(err, barrier.ErrHanging) {
		t.Errorf("error of a late call: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testRefusals)
}

func testRefusals(t *testing.T, s *setup) {
	t.Helper()
	first := call("t", "action")
	s.do(t, first, refuse, "k", barrier.Refused, "", "5 < 7")
	_, _, err := s.b.Do(t.Context(), first, add, []string{"k"}, 1, "")
	if !txn.Aborted(err) || err.Error() != "not enough: 5 < 7" {
		t.Errorf("duplicate of a refused call: %v", err)
	}
	second := first
	second.Attempt = 2
	s.do(t, second, refuse, "k", barrier.Refused, "", "6 < 7")
	s.do(t, second, add, "k", barrier.Refused, "", 1, "")
	s.do(t, first, add, "k", barrier.Refused, "", 1, "")
	s.want(t, "k", "")
	second.Attempt, second.Epoch = 1, 2
	s.do(t, second, add, "k", barrier.Ran, "ok", 1, "ok")
	s.do(t, first, add, "k", barrier.Duplicate, "ok", 1, "")
	s.want(t, "k", "1")

	s.do(t, call("e", "action"), refuse, "k", barrier.Refused, "", "")
	s.do(t, call("e", "compensate"), add, "k", barrier.EmptyCompensation, "", -1, "")
	again := call("e", "action")
	again.Attempt = 9
	s.do(t, again, add, "k", barrier.Hanging, "", 1, "")
	s.want(t, "k", "1")
}

// TestHalfDone: a call that fails after its first write is not repeated, and is
// taken back.
func TestHalfDone(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testHalfDone)
}

func testHalfDone(t *testing.T, s *setup) {
	t.Helper()
	keys := []string{"k"}
	for attempt := range 3 {
		c := call("t", "try")
		c.Attempt = attempt + 1
		_, v, err := s.b.Do(t.Context(), c, half, keys, 10)
		half := errors.Is(err, redisbarrier.ErrHalfDone) && strings.Contains(err.Error(), "WRONGTYPE")
		if v != barrier.Undecided || !half || txn.Aborted(err) {
			t.Errorf("attempt %d: %v, %v", attempt, v, err)
		}
	}
	s.want(t, "k", "10")
	s.do(t, call("t", "cancel"), add, "k", barrier.Ran, "undone", -10, "undone")
	s.want(t, "k", "0")

	for name, script := range map[string]string{
		"a refusal": `redis.call('INCRBY', KEYS[1], 10) return redis.error_reply('REFUSED too late')`,
		"pcall":     `redis.pcall('INCRBY', KEYS[1], 10) error('boom')`,
		"a reply":   `redis.call('incrby', KEYS[1], 10) return redis.pcall('LPUSH', KEYS[1], 'x')`,
	} {
		_, v, err := s.b.Do(t.Context(), call(name, "try"), redisbarrier.NewScript(script), keys)
		if v != barrier.Undecided || !errors.Is(err, redisbarrier.ErrHalfDone) {
			t.Errorf("%s after a write: %v, %v", name, v, err)
		}
		s.do(t, call(name, "cancel"), add, "k", barrier.Ran, "", -10, "")
		s.want(t, "k", "0")
	}
}

// TestReadingIsTakenForWriting: whoever has only looked has done nothing, by whatever
// command, and may refuse or fail.
func TestReadingIsTakenForWriting(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.s.Do("ZADD", "k", "1", "a")
	for _, looks := range []string{
		`'ZLEXCOUNT', KEYS[1], '-', '+'`, `'zrangebylex', KEYS[1], '-', '+'`, `'ZRANDMEMBER', KEYS[1]`,
		`'BITPOS', 'bits', 1`, `'SINTER', 'one', 'two'`, `'PEXPIRETIME', KEYS[1]`,
	} {
		look := "redis.call(" + looks + ") "
		refuses := redisbarrier.NewScript(look + "return redis.error_reply('REFUSED not enough')")
		s.do(t, call("refuses "+looks, "action"), refuses, "k", barrier.Refused, "")
		_, _, err := s.b.Do(
			t.Context(), call("fails "+looks, "action"), redisbarrier.NewScript(look+"error('boom')"), []string{"k"},
		)
		if err == nil || errors.Is(err, redisbarrier.ErrHalfDone) {
			t.Errorf("%s: %v", looks, err)
		}
	}
}

// TestFailures: what fails before its first write has done nothing and is repeated.
func TestFailures(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testFailures)
}

func testFailures(t *testing.T, s *setup) {
	t.Helper()
	for name, script := range map[string]string{
		"error":        `error('boom')`,
		"error reply":  `return redis.error_reply('ERR boom')`,
		"wrong type":   `redis.call('SET', 'x', '1') redis.call('LPUSH', KEYS[1], 'x')`,
		"wrong type 2": `redis.call('LPUSH', KEYS[1], 'x')`,
		"reads, fails": `redis.call('GET', KEYS[1]) redis.call('ttl', KEYS[1])
			redis.pcall('LPUSH', KEYS[1], 'x') error({})`,
		"no such":       `redis.call('NOSUCH')`,
		"global":        `x = 1`,
		"no table":      `return nosuch.field`,
		"syntax":        `return (`,
		"odd arguments": `redis.call()`,
	} {
		key := "k:" + name
		s.s.Do("SET", key, "1")
		_, v, err := s.b.Do(t.Context(), call(name, "action"), redisbarrier.NewScript(script), []string{key})
		if v != barrier.Undecided || err == nil || txn.Aborted(err) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		wrote := name == "wrong type"
		if errors.Is(err, redisbarrier.ErrHalfDone) != wrote {
			t.Errorf("%s: %v", name, err)
		}
		if !wrote {
			s.do(t, call(name, "action"), add, key, barrier.Ran, "done", 1, "done")
			s.want(t, key, "2")
		}
	}
	_, _, err := s.b.Do(
		t.Context(), call("line", "action"), redisbarrier.NewScript("local x = 1\n\nerror('boom')"), []string{"k"},
	)
	if err == nil || !strings.Contains(err.Error(), "user_script:3: boom") {
		t.Errorf("an error on line 3: %v", err)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testResults)
}

func testResults(t *testing.T, s *setup) {
	t.Helper()
	for script, want := range map[string]string{
		`return 'text'`:                          "text",
		`return ''`:                              "",
		`return nil`:                             "",
		`return false`:                           "",
		``:                                       "",
		`return 42`:                              "42",
		`return -3.9`:                            "-3",
		`return true`:                            "1",
		`return redis.status_reply('FINE')`:      "FINE",
		`return {1, 'two'}`:                      `[1,"two"]`,
		`return {a = 1}`:                         `{"a":1}`,
		`return redis.call('SET', KEYS[1], 'x')`: "OK",
		`return redis.call('HGETALL', 'none')`:   "{}",
		`return 9007199254740992`:                "9007199254740992",
		`return {123456789012345, -9007199254740992, 0, -0, 1e14}`: `[123456789012345,` +
			`-9007199254740992,0,0,100000000000000]`,
		`return {redis.call('INCRBY', 'counter', '123456789012345')}`: `[123456789012345]`,
		`return {1, nil, 3}`:   `[1,null,3]`,
		`return {[2.5] = 'x'}`: `{"2.5":"x"}`,
		`return {n = {cents = 1795302224355014, rate = 0.5}}`:  `{"n":{"cents":1795302224355014,"rate":0.5}}`,
		`return {0.1, 1e300, 1/3}`:                             `[0.1,1e+300,0.3333333333333333]`,
		`return {true, false, cjson.null, 'quote " \\ é', {}}`: `[true,false,null,"quote \" \\ é",{}]`,
		`return KEYS[1] .. #KEYS .. ARGV[1] .. #ARGV`:          "k1a3",
		`return '\0\255:\r\n+-'`:                               "\x00\xff:\r\n+-",
		`return 1 -- a comment at the end`:                     "1",
		`return string.rep('x', 3000000)`:                      strings.Repeat("x", 3000000),
		`local function f() return 'f' end return f()`:         "f",
	} {
		name := "t:" + script
		s.do(t, call(name, "action"), redisbarrier.NewScript(script), "k", barrier.Ran, want, "a", "b", "c")
		s.do(t, call(name, "action"), add, "k", barrier.Duplicate, want, 1, "other")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	names := []string{
		"o'brien", "a:b", "a", "b", "{x}", "}:", "per%cent", "*", "\t\r\n\x00", "日本", strings.Repeat("x", 5000),
		"case", "CASE",
	}
	for _, name := range names {
		for _, branch := range names {
			s.do(t, txn.Call{Transaction: name, Branch: branch, Op: "action"}, add, "k", barrier.Ran, name, 1, name)
		}
	}
	s.want(t, "k", fmt.Sprint(len(names)*len(names)))
	keys := []string{"k"}
	for _, bad := range []struct {
		call txn.Call
		keys []string
	}{
		{txn.Call{Op: "action"}, keys},
		{txn.Call{Transaction: "t"}, keys},
		{txn.Call{Transaction: "t", Op: "a:b"}, keys},
		{txn.Call{Transaction: "t", Op: "half"}, keys},
		{txn.Call{Transaction: "t", Op: "action"}, nil},
		{txn.Call{Transaction: "t", Op: "action"}, []string{""}},
		{txn.Call{Transaction: "t", Op: "action"}, []string{"a}b"}},
		{txn.Call{Transaction: "t", Op: "action"}, []string{"{}a"}},
	} {
		if _, v, err := s.b.Do(t.Context(), bad.call, add, bad.keys, 1, ""); v != barrier.Undecided || err == nil {
			t.Errorf("%+v %q: %v, %v", bad.call, bad.keys, v, err)
		}
	}
	for _, opts := range []*redisbarrier.Options{{Prefix: "{x}"}, {TTL: time.Millisecond}} {
		if _, err := redisbarrier.New(s.conn, opts); !errors.Is(err, input.ErrInvalid) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	if _, err := redisbarrier.New(nil, nil); !errors.Is(err, input.ErrInvalid) {
		t.Errorf("no connection: %v", err)
	}
}

// TestForwardAndBackAtOnce: whoever is first, nothing is left.
func TestForwardAndBackAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	count := map[barrier.Verdict]int{}
	for round := range 1000 {
		c := fmt.Sprint(round)
		var verdicts [4]barrier.Verdict
		together(4, func(i int) {
			op, amount := "try", 1
			if (i+round)%4 >= 2 { // the last to be started is often the first to run
				op, amount = "cancel", -1
			}
			_, verdicts[i], _ = s.b.Do(t.Context(), call(c, op), add, []string{"k"}, amount, "")
		})
		ran := 0
		for _, v := range verdicts {
			count[v]++
			if v == barrier.Ran {
				ran++
			}
		}
		if ran != 0 && ran != 2 || count[barrier.Undecided] > 0 {
			t.Fatalf("round %d: %v", round, verdicts)
		}
	}
	if got := s.s.Do("GET", "k"); got != "0" && got != nil {
		t.Errorf("balance %v", got)
	}
	t.Log(count)
}

// together runs n functions at the same instant and waits for all.
func together(n int, f func(i int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	done.Wait()
}

// TestCrash: work and mark survive together, or not at all.
func TestCrash(t *testing.T) {
	t.Parallel()
	withEach(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF}, testCrash)
}

func testCrash(t *testing.T, s *setup) {
	t.Helper()
	s.do(t, call("t", "action"), add, "k", barrier.Ran, "first", 1, "first")
	s.s.Kill()
	_, v, err := s.b.Do(t.Context(), call("u", "action"), add, []string{"k"}, 1, "")
	if v != barrier.Undecided || err == nil || txn.Aborted(err) {
		t.Errorf("without a server: %v, %v", v, err)
	}
	s.s.Restart(true)
	s.do(t, call("t", "action"), add, "k", barrier.Duplicate, "first", 1, "second")
	s.do(t, call("u", "action"), add, "k", barrier.Ran, "", 1, "")
	s.want(t, "k", "2")
}

// TestOutOfMemory: a server that takes no more writes leaves nothing half done.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	withEach(t, &testenv.RedisOptions{Policy: "noeviction"}, testOutOfMemory)
}

func testOutOfMemory(t *testing.T, s *setup) {
	t.Helper()
	s.s.Do("CONFIG", "SET", "maxmemory", "1")
	_, v, err := s.b.Do(t.Context(), call("t", "action"), add, []string{"k"}, 1, "")
	if v != barrier.Undecided || err == nil || errors.Is(err, redisbarrier.ErrHalfDone) {
		t.Errorf("out of memory: %v, %v", v, err)
	}
	s.s.Do("CONFIG", "SET", "maxmemory", "0")
	s.do(t, call("t", "action"), add, "k", barrier.Ran, "", 1, "")
	s.want(t, "k", "1")
}

func TestMessages(t *testing.T) {
	t.Parallel()
	withEach(t, nil, testMessages)
}

func testMessages(t *testing.T, s *setup) {
	t.Helper()
	check := s.b.Check(func(c txn.Call) string { return string(c.Payload) })
	ask := func(id string) error {
		_, err := check(t.Context(), txn.Call{Transaction: id, Op: "check", Payload: []byte("k")})
		return err
	}
	for range 2 {
		result, err := s.b.Prepare(t.Context(), "done", add, []string{"k"}, 1, "r")
		if string(result) != "r" || err != nil {
			t.Errorf("prepare: %q, %v", result, err)
		}
		if err := ask("done"); err != nil {
			t.Errorf("check after prepare: %v", err)
		}
	}
	s.want(t, "k", "1")
	if err := ask("never"); !txn.Aborted(err) {
		t.Errorf("check without prepare: %v", err)
	}
	if _, err := s.b.Prepare(t.Context(), "never", add, []string{"k"}, 1, ""); !errors.Is(err, barrier.ErrRolledBack) {
		t.Errorf("prepare after check: %v", err)
	}
	if _, err := s.b.Prepare(t.Context(), "refused", refuse, []string{"k"}, ""); !txn.Aborted(err) {
		t.Errorf("refused: %v", err)
	}
	if err := ask("refused"); !txn.Aborted(err) {
		t.Errorf("check after a refusal: %v", err)
	}
	if _, err := s.b.Prepare(t.Context(), "half", half, []string{"k"}, 0); !errors.Is(err, redisbarrier.ErrHalfDone) {
		t.Errorf("half done: %v", err)
	}
	if err := ask("half"); !errors.Is(err, redisbarrier.ErrHalfDone) || txn.Aborted(err) {
		t.Errorf("check of half a message: %v", err)
	}
	if err := ask(""); err == nil || txn.Aborted(err) {
		t.Errorf("check without ID: %v", err)
	}
	s.want(t, "k", "1")
}

func TestFunc(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	var skipped []barrier.Verdict
	b := over(t, s.conn, &redisbarrier.Options{
		SkippedFunc: func(_ context.Context, _ txn.Call, v barrier.Verdict) { skipped = append(skipped, v) },
	})
	f := b.Func(add, func(c txn.Call) ([]string, []any, error) {
		if len(c.Payload) == 0 {
			return nil, nil, txn.Abort(errors.New("no payload"))
		}
		return []string{"k"}, []any{1, c.Payload}, nil
	})
	c := call("t", "action")
	if _, err := f(t.Context(), c); !txn.Aborted(err) {
		t.Errorf("without payload: %v", err)
	}
	c.Payload = []byte("p")
	for range 2 {
		if result, err := f(t.Context(), c); string(result) != "p" || err != nil {
			t.Errorf("%q, %v", result, err)
		}
	}
	for range 2 {
		if _, _, err := b.Do(t.Context(), call("no", "action"), refuse, []string{"k"}, ""); !txn.Aborted(err) {
			t.Errorf("refusal: %v", err)
		}
	}
	if diff := cmp.Diff([]barrier.Verdict{barrier.Duplicate, barrier.Refused}, skipped); diff != "" {
		t.Error(diff)
	}
}

// TestWhoIsToldOfWhatWasSkippedPanics: a repeated call gets the first result all the same.
func TestWhoIsToldOfWhatWasSkippedPanics(t *testing.T) {
	var told bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&told, nil)))
	defer slog.SetDefault(before)
	s := start(t, nil)
	s.b = over(t, s.conn, &redisbarrier.Options{
		SkippedFunc: func(context.Context, txn.Call, barrier.Verdict) { panic("out of paper") },
	})
	s.do(t, call("t", "action"), add, "k", barrier.Ran, "r", 1, "r")
	s.do(t, call("t", "action"), add, "k", barrier.Duplicate, "r", 1, "r")
	if !strings.Contains(told.String(), `SkippedFunc panicked" transaction=t panic="out of paper" stack=`) {
		t.Errorf("told: %q", &told)
	}
}

func TestTTL(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.do(t, call("forever", "action"), add, "k", barrier.Ran, "", 1, "")
	if ttl := s.s.Do("PTTL", "bedrock:barrier:{k}:forever"); ttl != int64(-1) {
		t.Errorf("marks expire in %v ms", ttl)
	}
	s.b = over(t, s.conn, &redisbarrier.Options{TTL: time.Hour, Prefix: "mine:"})
	s.do(t, call("t", "action"), add, "k", barrier.Ran, "", 1, "")
	check := s.b.Check(func(txn.Call) string { return "k" })
	if _, err := check(t.Context(), txn.Call{Transaction: "m"}); !txn.Aborted(err) {
		t.Fatal(err)
	}
	for _, transaction := range []string{"t", "m"} {
		if ttl, _ := s.s.Do("PTTL", "mine:{k}:"+transaction).(int64); ttl < 3500000 || ttl > 3600000 {
			t.Errorf("marks of %s expire in %d ms", transaction, ttl)
		}
	}
}
