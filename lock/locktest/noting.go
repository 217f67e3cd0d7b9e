package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// noting: what is stored beside a grant can be changed, and nothing else changes by it.
func noting() []behaviour {
	needs := []Capability{Noting}
	return []behaviour{
		{name: "NoteIsNotSeen", run: noteIsNotSeen, needs: append(needs, Inspecting)},
		{name: "NoteRevivesAGrant", run: noteRevivesAGrant, needs: needs},
		{name: "StrangerNotes", run: strangerNotes, needs: append(needs, Inspecting)},
		{name: "NoteProlongsALease", run: noteProlongsALease, needs: needs},
	}
}

// everyMode returns a request of each mode that the backend has.
func (e *env) everyMode() (reqs []driver.Request) {
	modes := []driver.Mode{driver.Exclusive}
	if !e.lacks(Sharing) {
		modes = append(modes, driver.Shared, driver.Write)
	}
	if !e.lacks(Permitting) {
		modes = append(modes, driver.Permit)
	}
	for _, mode := range modes {
		reqs = append(reqs, e.requestIn(mode, e.name("a "+mode.String()), e.long))
	}
	return reqs
}

// noteIsNotSeen changes what is stored beside grants of every mode.
func noteIsNotSeen(e *env) {
	a, b := e.store(), e.store()
	for _, req := range e.everyMode() {
		g := e.grant(a, req)
		for _, meta := range []string{`{"note":"one"}`, `{"note":"ü \"two\""}`, `{"host":"h"}`} {
			if err := a.Annotate(e.contextFor(soon), g, meta); err != nil {
				e.Fatalf("mode %s: %v", req.Mode, err)
			}
			if stored := e.metaOf(b, req.Name); stored != meta {
				e.Errorf("mode %s: %q, want %q", req.Mode, stored, meta)
			}
		}
		if err := a.Renew(e.contextFor(soon), []driver.Grant{g})[0]; err != nil {
			e.Errorf("mode %s: renewal: %v", req.Mode, err)
		}
		e.release(a, g)
	}
}

// noteRevivesAGrant changes what is stored beside grants that are over.
func noteRevivesAGrant(e *env) {
	a, c := e.store(), e.client(nil)
	for _, req := range e.everyMode() {
		g := e.grant(a, req)
		e.release(a, g)
		if err := a.Annotate(e.contextFor(soon), g, `{"note":"late"}`); !errors.Is(err, driver.ErrLost) {
			e.Errorf("mode %s: %v", req.Mode, err)
		}
		if req.Mode == driver.Exclusive {
			e.free(c, req.Name)
		}
	}
}

// strangerNotes changes what is stored beside the grant of somebody else.
func strangerNotes(e *env) {
	a, b := e.store(), e.store()
	for _, req := range e.everyMode() {
		g := e.grant(a, req)
		before := e.metaOf(b, req.Name)
		stranger := g
		stranger.Owner = newOwner()
		err := b.Annotate(e.contextFor(soon), stranger, `{"note":"of a stranger"}`)
		if !errors.Is(err, driver.ErrLost) {
			e.Errorf("mode %s: %v", req.Mode, err)
		}
		if after := e.metaOf(b, req.Name); after != before {
			e.Errorf("mode %s: %q was %q before", req.Mode, after, before)
		}
		e.release(a, g)
	}
}

// metaOf returns what is stored beside a name's only grant.
func (e *env) metaOf(b *bedrocktest.Backend, name string) string {
	e.Helper()
	info, err := b.Inspect(e.contextFor(soon), name)
	if err != nil || len(info.Holders) != 1 {
		e.Fatalf("%q has holders %+v, want one: %v", name, info.Holders, err)
	}
	return info.Holders[0].Meta
}

// noteProlongsALease changes what is stored beside a grant again and again, until it has run out.
func noteProlongsALease(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.grant(a, e.request(name, e.ttl))
	for end := time.Now().Add(e.ttl + soon); ; <-time.After(e.ttl / 20) {
		err := a.Annotate(e.contextFor(soon), g, `{"note":"still here"}`)
		if errors.Is(err, driver.ErrLost) {
			break
		}
		if err != nil || time.Now().After(end) {
			e.Fatalf("its time is over: %v", err)
		}
	}
	e.release(b, e.grant(b, e.request(name, e.long)))
}
