package etcdlock_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
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
