package lock

import (
	"context"
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	cycleLongest = 64   // holders
	cycleNames   = 1000 // that are looked at
)

// place is a name in a store, which somebody wants.
type place struct {
	client *Client
	wish   wish
	path   []Wait // how the search has come there
}

// findCycle returns a circle, and as whom the one who looks is in it; nil if it finds none. It goes from who keeps it
// from the lock to what they wait for, and on. Permits are left out: any holder may give some back.
func (s *search) findCycle(holds map[*hold]bool) (cycle []Wait, me string) {
	type visit struct {
		client *Client
		wish   wish
	}
	places := []place{{client: s.client, wish: s.want.wish()}}
	visited := make(map[visit]bool)
	for len(places) > 0 && len(visited) < cycleNames {
		at := places[0]
		places = places[1:]
		key := visit{at.client, at.wish}
		if visited[key] || at.wish.mode == driver.Permit || len(at.path) >= cycleLongest {
			continue
		}
		visited[key] = true
		for _, h := range at.client.waitingHolders(s.ctx, at.wish.name) {
			over := len(at.path) == 0 && driver.AsPublicOwner(h.Owner) == driver.PublicOwner(s.over)
			if over || !at.wish.isKeptOffBy(&h.Holder) {
				continue
			}
			if owner := ownerAmong(holds, h.Owner); owner != "" {
				if len(at.path) == 0 {
					continue // it has it by another lease, and asks for more than that: its own affair
				}
				return at.path, owner
			}
			places = append(places, s.placesOf(&at, &h)...)
		}
	}
	return nil, ""
}

// waitingHolder is a holder, and what it waits for.
type waitingHolder struct {
	Holder

	wishes []wish
}

// waitingHolders returns who has a name; nobody if that cannot be told.
func (c *Client) waitingHolders(ctx context.Context, name string) []waitingHolder {
	backend, ok := c.backend.(driver.Inspector)
	if !ok {
		return nil
	}
	found, err := backend.Inspect(ctx, name)
	if err != nil {
		return nil
	}
	info := c.info(found)
	holders := make([]waitingHolder, len(info.Holders))
	for i, h := range found.Holders {
		holders[i] = waitingHolder{info.Holders[i], takeWishes(driver.DecodeMeta(h.Meta))}
	}
	return holders
}

// placesOf returns what a holder waits for who was found at a place.
func (s *search) placesOf(at *place, h *waitingHolder) (places []place) {
	for _, w := range h.wishes {
		client := at.client
		if w.store != "" {
			client = s.clientOf(w.store)
		}
		if client != nil {
			path := append(slices.Clone(at.path), Wait{Has: at.wish.name, Waits: w.name, Holder: h.Holder})
			places = append(places, place{client: client, wish: w, path: path})
		}
	}
	return places
}

// clientOf returns a client here of a store; nil if there is none.
func (s *search) clientOf(store string) *Client {
	if s.client.storeID(s.ctx) == store {
		return s.client
	}
	for _, l := range s.leases {
		if c := l.hold.q.client; c != s.client && c.storeID(s.ctx) == store {
			return c
		}
	}
	return nil
}

// ownerAmong returns an owner as every backend may tell it, if it is one of those holds'; else nothing.
func ownerAmong(holds map[*hold]bool, owner string) string {
	public := driver.AsPublicOwner(owner)
	for h := range holds {
		if driver.PublicOwner(h.grant.Owner) == public {
			return public
		}
	}
	return ""
}
