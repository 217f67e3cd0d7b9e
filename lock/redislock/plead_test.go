package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// asks asks for a name and checks how many were told.
func asks(t *testing.T, b driver.Backend, name string, want int) {
	t.Helper()
	p := driver.Plea{Reason: "7 9 x", Within: time.Minute}
	if told, err := b.(driver.Pleader).Plead(ctxFor(t), name, p); err != nil || told != want {
		t.Errorf("%q: %d were told, want %d: %v", name, told, want, err)
	}
}

// askedClient is a client that hears what its grants are asked.
func askedClient(t *testing.T, conn redisconn.Conn, client string) (driver.Backend, <-chan driver.Message) {
	t.Helper()
	b, heard := open(t, conn, nil), make(chan driver.Message, 100)
	b.(driver.Notifier).Notify(func(m driver.Message) {
		if m.Kind == driver.Asked {
			heard <- m
		}
	})
	mustRelease(t, b, mustAcquire(t, b, request("listens", client+":1")))
	return b, heard
}

// TestWhoIsAsked: all holders, each once, and neither the dead nor those of other libraries.
func TestWhoIsAsked(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b, heard := askedClient(t, connect(t, single(s)), uuidA)
		awaitListeners(t, s, "bedrock_client:"+uuidA[:18], 1)
		for _, req := range []driver.Request{
			{Name: "a mutex", Owner: uuidA + ":3"},
			{Name: "readers", Owner: uuidA + ":4", Mode: driver.Shared},
			{Name: "readers", Owner: uuidA + ":5", Mode: driver.Shared},
			{Name: "a writer", Owner: uuidA + ":6", Mode: driver.Write},
			{Name: "{x} y", Owner: uuidA + ":7", Mode: driver.Permit, Permits: 2, Limit: 5},
			{Name: "{x} y", Owner: uuidA + ":8", Mode: driver.Permit, Permits: 1, Limit: 5},
			{Name: "in line", Owner: uuidA + ":9", Fair: true},
		} {
			req.TTL, req.Tokens = 30*time.Second, 1
			mustAcquire(t, b, req)
		}
		s.Do("HSET", "java's", javas, 1)
		for name, want := range map[string]int{
			"a mutex": 1, "readers": 2, "a writer": 1, "{x} y": 2, "in line": 1, "java's": 0, "nobody's": 0,
		} {
			asks(t, b, name, want)
			for range want {
				if m := <-heard; m.Name != name || m.Plea.Reason != "7 9 x" || m.Plea.Within != time.Minute {
					t.Errorf("%q is told as %+v", name, m)
				}
			}
		}
	})
}

// TestTheDeadAreAsked: they are in the store until somebody looks.
func TestTheDeadAreAsked(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b, heard := askedClient(t, connect(t, single(s)), uuidA)
		awaitListeners(t, s, "bedrock_client:"+uuidA[:18], 1)
		for _, mode := range []driver.Mode{driver.Shared, driver.Permit} {
			req := request("a "+mode.String(), uuidA+":2")
			if req.Mode = mode; mode == driver.Permit {
				req.Permits, req.Limit = 1, 9
			}
			living := mustAcquire(t, b, req)
			req.Owner, req.TTL = uuidA+":3", 10*time.Millisecond
			mustAcquire(t, b, req)
			until(t, "the dead to be passed over", func() bool {
				told, err := b.(driver.Pleader).Plead(ctxFor(t), req.Name, driver.Plea{})
				for range told {
					<-heard
				}
				return err == nil && told == 1
			})
			asks(t, b, req.Name, 1)
			if m := <-heard; m.Owner != living.Owner {
				t.Errorf("asked was %+v", m)
			}
		}
	})
}

// TestAskedAmongClusters: a server of a cluster counts only those who listen at itself.
func TestAskedAmongClusters(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, connect(t, target{addrs: set.Addrs(), cluster: true}), nil)
		for i := range 9 {
			req := request(fmt.Sprint(t.Name(), i), uuidA+":1")
			req.Meta = `{"host":"h"}`
			g := mustAcquire(t, b, req)
			asks(t, b, g.Name, 1)
			mustRelease(t, b, g)
			set.NodeForSlot(set.KeySlot(g.Name)).Do("HSET", g.Name, javas, 1)
			asks(t, b, g.Name, 0)
		}
	})
}

// TestWhoMayNotAsk is told so, and what is no lock is left alone.
func TestWhoMayNotAsk(t *testing.T) {
	s := testenv.Redis(t, nil)
	s.Do("SET", "text", "x")
	may := open(t, connectGoredis(t, single(s)), nil)
	mustAcquire(t, may, request("a", uuidA+":1"))
	mayNot := open(t, connectGoredis(t, limited(s, "~* &redisson* +@all")), nil)
	for b, name := range map[driver.Backend]string{mayNot: "a", may: "text"} {
		if told, err := b.(driver.Pleader).Plead(ctxFor(t), name, driver.Plea{}); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%q: %d, %v", name, told, err)
		}
	}
	if _, err := may.(driver.Pleader).Plead(ctxFor(t), "a", driver.Plea{Reason: "two\nlines"}); !errors.Is(
		err, lock.ErrInvalid) {
		t.Errorf("a reason of two lines: %v", err)
	}
	ended, cancel := context.WithCancel(ctxFor(t))
	cancel()
	if _, err := may.(driver.Pleader).Plead(ended, "a", driver.Plea{}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("without time: %v", err)
	}
	plain := open(t, connectGoredis(t, single(s)), &redislock.Options{Profile: redislock.Redlock})
	if _, err := plain.(driver.Pleader).Plead(ctxFor(t), "a", driver.Plea{}); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("redlock: %v", err)
	}
}

// TestNonsenseOnAClientsChannel is passed over.
func TestNonsenseOnAClientsChannel(t *testing.T) {
	s := testenv.Redis(t, nil)
	_, heard := askedClient(t, connectGoredis(t, single(s)), uuidA)
	channel := "bedrock_client:" + uuidA[:18]
	awaitListeners(t, s, channel, 1)
	for _, text := range []string{
		"asked", "asked 1", "asked 1 0", "asked 1 0 0", "asked 1 0 -1 a", "asked 1 0 2 a", "asked 1 x 0 a",
		"asked 1 0 x a", "asked 1 -1 0 a", "asked 1 99999999999999 0 a", "asked 1 0 1 \x01a",
		"asked 1 0 257 " + strings.Repeat("x", 300),
		"sworn 1 0 0 a", "asked 8 5000 4 a  ba b",
	} {
		s.Do("PUBLISH", channel, text)
	}
	for m := range heard {
		if m.Owner == uuidA+":8" {
			want := driver.Plea{Reason: "a  b", Within: 5 * time.Second}
			if m.Name != "a b" || m.Plea != want {
				t.Errorf("heard as %+v", m)
			}
			return
		}
		if m.Name != "" { // "asked 1 0 0" has no name
			t.Errorf("heard as %+v", m)
		}
	}
}

// crowd has so many hold a name: read it, or have permits of it.
func crowd(t *testing.T, b driver.Backend, req driver.Request, many int) {
	t.Helper()
	req.TTL, req.Tokens = 10*time.Minute, 1
	for i := range many {
		req.Owner = fmt.Sprint(uuidA, ":", i+2)
		mustAcquire(t, b, req)
	}
}

// TestManyHoldersAreNotAsked: those who have permits, or read, may be very many. Then 2000 are asked at least.
func TestManyHoldersAreNotAsked(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	b.(driver.Notifier).Notify(func(driver.Message) {})
	mustRelease(t, b, mustAcquire(t, b, request("listens", uuidA+":1")))
	awaitListeners(t, s, "bedrock_client:"+uuidA[:18], 1)
	for _, req := range []driver.Request{
		{Name: "readers", Mode: driver.Shared}, {Name: "permits", Mode: driver.Permit, Permits: 1, Limit: 9999},
	} {
		for _, many := range []int{1998, 2001, 2500} {
			req.Name = fmt.Sprint(many, " ", req.Mode)
			crowd(t, b, req, many)
			told, err := b.(driver.Pleader).Plead(ctxFor(t), req.Name, driver.Plea{})
			if err != nil || told < min(many, 2000) || told > many {
				t.Errorf("%q: %d of %d holders were told: %v", req.Name, told, many, err)
			}
		}
	}
}
