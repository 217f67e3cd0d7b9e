package etcdlock_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

func TestBadOptions(t *testing.T) {
	client := connect(t, "127.0.0.1:1")
	for field, all := range map[string][]etcdlock.Options{
		"profile": {{Profile: 9}},
		"prefix": {
			{Prefix: "locks"},
			{Prefix: "\xff/"},
			{Prefix: strings.Repeat("x", etcdlock.MaxPrefix) + "/"},
			{Profile: etcdlock.Compatible, Prefix: "locks/"},
		},
		"ttl": {{Lock: lock.Options{TTL: 1}}},
	} {
		for _, opts := range all {
			_, err := etcdlock.New(client, &opts)
			if wrong, ok := errors.AsType[*lock.InvalidError](err); !ok || !strings.EqualFold(wrong.Field, field) {
				t.Errorf("%+v: %v", opts, err)
			}
		}
	}
	if _, err := etcdlock.New(nil, nil); !errors.Is(err, lock.ErrInvalid) {
		t.Errorf("a nil client: %v", err)
	}
}

// TestPrefixesMeet: locks of another prefix are others.
func TestPrefixesMeet(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	a := newBackend(t, client, &etcdlock.Options{Prefix: "a/"})
	b := newBackend(t, client, &etcdlock.Options{Prefix: "a/b/"})
	one, two := mustAcquire(t, a, request("b/c", 1)), mustAcquire(t, b, request("c", 1))
	if keys := keysOf(t, client, ""); len(keys) != 2 || keys[0] != "a/b%2Fc/bedrock-client:1" {
		t.Errorf("keys %q", keys)
	}
	mustRelease(t, a, one)
	mustRelease(t, b, two)
}

// TestIdentityOfAPrefix: who waits below another prefix is in nobody's way, and the cluster is one all the same.
func TestIdentityOfAPrefix(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	identityOf := func(opts *etcdlock.Options) string {
		who, err := newBackend(t, client, opts).(driver.Identifier).Identity(contextFor(t, soon))
		if err != nil {
			t.Fatal(err)
		}
		return who
	}
	own := identityOf(nil)
	if same := identityOf(&etcdlock.Options{Prefix: etcdlock.DefaultPrefix}); same != own {
		t.Errorf("one place is %q and %q", own, same)
	}
	if others := identityOf(&etcdlock.Options{Profile: etcdlock.Elections}); others != identityOf(compatible()) {
		t.Errorf("both profiles have the same keys, and one is %q", others)
	}
	for _, opts := range []*etcdlock.Options{{Prefix: "a/"}, compatible()} {
		if other := identityOf(opts); other == own || driver.StoreOf(other) != driver.StoreOf(own) {
			t.Errorf("another place of one store is %q, and the first one %q", other, own)
		}
	}
}

// TestEtcdIsAskedForVotes: who makes one lock of several stores is told at once that it gives none.
func TestEtcdIsAskedForVotes(t *testing.T) {
	client := connect(t, "127.0.0.1:1")
	for _, opts := range []*etcdlock.Options{nil, {Profile: etcdlock.Elections}} {
		nodes := []driver.Backend{memlock.NewBackend(nil), newBackend(t, client, opts), memlock.NewBackend(nil)}
		for _, join := range []func() (driver.Backend, error){
			func() (driver.Backend, error) { return quorum.NewBackend(nodes, nil) },
			func() (driver.Backend, error) { return combination.NewBackend(nodes, nil) },
		} {
			_, err := join()
			if !errors.Is(err, lock.ErrInvalid) || !strings.Contains(err.Error(), "number 2 has no vote") {
				t.Errorf("joined: %v", err)
			}
		}
	}
}
