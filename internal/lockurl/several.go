package lockurl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// union is one lock made of several stores.
type union struct {
	kind  string // for people
	nodes []*Backend
	ttl   time.Duration
	join  func([]driver.Backend, lock.Options) (driver.Backend, error)
}

// NewQuorum prepares a backend whose locks are the votes of several stores, each at a URL of its own. The options of
// locks are those that clients are opened with, and what one of the URLs says of the TTL is for the whole. Like
// [New] it connects to nothing; what is wrong with the options or their number is an [input.Error].
func NewQuorum(texts []string, opts *quorum.Options) (*Backend, error) {
	var o quorum.Options
	if opts != nil {
		o = *opts
	}
	nodes, err := newNodes(texts)
	if err != nil {
		return nil, err
	}
	if o.Quarantine == 0 && len(nodes) > 0 && nodes[0].Memory() {
		o.Quarantine = -1 // who had a lock in this memory is gone with it
	}
	return newUnion("quorum", nodes, func(backends []driver.Backend, l lock.Options) (driver.Backend, error) {
		with := o
		with.Lock = l
		return quorum.NewBackend(backends, &with)
	})
}

// NewCombination is [NewQuorum] for locks that are taken at one store after the other, in the order of the URLs.
func NewCombination(texts []string, opts *combination.Options) (*Backend, error) {
	var o combination.Options
	if opts != nil {
		o = *opts
	}
	nodes, err := newNodes(texts)
	if err != nil {
		return nil, err
	}
	return newUnion("combination", nodes, func(backends []driver.Backend, l lock.Options) (driver.Backend, error) {
		with := o
		with.Lock = l
		return combination.NewBackend(backends, &with)
	})
}

func newNodes(texts []string) ([]*Backend, error) {
	nodes := make([]*Backend, len(texts))
	for i, text := range texts {
		var err error
		if nodes[i], err = New(text); err != nil {
			return nil, fmt.Errorf("number %d: %w", i+1, err)
		}
		if alone, ok := nodes[i].loc.place.(single); ok && alone.standsAlone() != "" {
			return nil, input.Errorf("backend", "number %d is %s, %s", i+1, nodes[i], alone.standsAlone())
		}
	}
	return nodes, checkDistinct(nodes)
}

// newUnion tries whether a backend can be made of the nodes, so that nothing has happened when it cannot.
func newUnion(
	kind string, nodes []*Backend, join func([]driver.Backend, lock.Options) (driver.Backend, error),
) (*Backend, error) {
	u := &union{kind: kind, nodes: nodes, join: join}
	var err error
	if u.ttl, err = commonTTL(nodes); err != nil {
		return nil, err
	}
	b := &Backend{union: u}
	tried, hangUp, err := b.Driver()
	if err != nil {
		return nil, err
	}
	return b, errors.Join(tried.Close(), hangUp())
}

// checkDistinct refuses a store that would have two votes, and one that others do not see. Two names of one server are
// found out when it is asked who it is.
func checkDistinct(nodes []*Backend) error {
	inMemory := slices.IndexFunc(nodes, (*Backend).Memory)
	elsewhere := slices.IndexFunc(nodes, func(b *Backend) bool { return !b.Memory() })
	if inMemory >= 0 && elsewhere >= 0 {
		return input.Errorf("backend", "number %d is the memory of this process and number %d is not: "+
			"no other process would see that vote", inMemory+1, elsewhere+1)
	}
	for i, n := range nodes {
		for j, before := range nodes[:i] {
			if at := n.loc.meets(before.loc.place); at != "" {
				return input.Errorf("backend", "number %d is number %d once more, at %s: each must be another server",
					i+1, j+1, at)
			}
		}
	}
	return nil
}

// commonTTL is the TTL that some of the URLs have; there is one lock only, so they must agree.
func commonTTL(nodes []*Backend) (time.Duration, error) {
	var ttl time.Duration
	by := 0
	for i, n := range nodes {
		switch said := n.ttl(); {
		case said == 0 || said == ttl:
		case ttl == 0:
			ttl, by = said, i
		default:
			return 0, input.Errorf("backend", "option ttl is %s of number %d and %s of number %d: a lock has one",
				ttl, by+1, said, i+1)
		}
	}
	return ttl, nil
}

// String lists the URLs without credentials.
func (u *union) String() string {
	texts := make([]string, len(u.nodes))
	for i, n := range u.nodes {
		texts[i] = n.String()
	}
	return u.kind + " of " + strings.Join(texts, ", ")
}

// connect is [Backend.connect] for all of them.
func (u *union) connect(opts lock.Options, by use) (driver.Backend, func() error, error) {
	var (
		backends []driver.Backend
		hangUps  []func() error
	)
	hangUp := func() error {
		var errs []error
		for _, end := range hangUps {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	}
	giveUp := func(err error) (driver.Backend, func() error, error) {
		errs := []error{err}
		for _, b := range backends {
			errs = append(errs, b.Close())
		}
		return nil, nil, errors.Join(append(errs, hangUp())...)
	}
	for _, n := range u.nodes {
		backend, end, err := n.connect(opts, by)
		if err != nil {
			return giveUp(err)
		}
		backends, hangUps = append(backends, backend), append(hangUps, end)
	}
	backend, err := u.join(backends, opts)
	if err != nil {
		return giveUp(err)
	}
	return backend, hangUp, nil
}
