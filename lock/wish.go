package lock

import (
	"context"
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// wish is what a holder waits for, as it is said beside its grant.
type wish struct {
	mode        driver.Mode
	upgradeable bool
	store       string // empty for the one where the grant is
	name        string
}

// wish returns what is wanted.
func (w *want) wish() wish {
	return wish{mode: w.mode, upgradeable: w.role.includes(upgradeable), name: w.name}
}

// isKeptOffBy reports whether a holder keeps others from what is wished for.
func (w wish) isKeptOffBy(h *Holder) bool {
	if w.mode != driver.Shared {
		return true
	}
	return h.Mode != driver.Shared || w.upgradeable && h.Upgradeable
}

const upgradeableWord = "upgradeable"

// String returns the wish as it is stored: no name has a control character, and no store a space.
func (w wish) String() string {
	word := w.mode.String()
	if w.upgradeable {
		word = upgradeableWord
	}
	return word + " " + w.store + " " + w.name
}

// parseWish reads what String returns.
func parseWish(text string) (w wish, ok bool) {
	word, rest, _ := strings.Cut(text, " ")
	w.store, w.name, ok = strings.Cut(rest, " ")
	if w.upgradeable = word == upgradeableWord; w.upgradeable {
		w.mode = driver.Shared
		return w, ok
	}
	mode, err := driver.ParseMode(word)
	w.mode = mode
	return w, ok && err == nil && word != ""
}

// wishAt returns what is to be said beside a grant; nothing if the holder waits at a store that has no name.
func (s *search) wishAt(h *hold) string {
	w := s.want.wish()
	if h.q.client != s.client {
		if w.store = s.client.storeID(s.client.background); w.store == "" {
			return ""
		}
	}
	return w.String()
}

// storeID returns what tells the client's store from all others, and the place in it where its names are, as far as it
// can tell: who waits for a name in another place is in nobody's way.
func (c *Client) storeID(ctx context.Context) string {
	identifier, ok := c.backend.(driver.Identifier)
	if !ok {
		return ""
	}
	limited, cancel := context.WithTimeout(ctx, c.opts.AnswerTime())
	defer cancel()
	who, err := identifier.Identity(limited)
	if err != nil {
		return ""
	}
	return driver.PublicOwner(who)
}
