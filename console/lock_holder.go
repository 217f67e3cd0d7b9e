package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// What of a holder is shown. It has written its metadata itself, and so may have whoever can write to the store.
const (
	mostWaits      = 20
	mostMeta       = 40
	metaLetters    = 400
	processLetters = 100
)

// holderRow is one holder of a lock.
type holderRow struct {
	Has     string
	Process string
	Owner   string // what others may be told: the owner itself is the key to a release
	Since   time.Time
	Held    string
	Left    string
	Linger  string // empty if it does not
	Waits   []string
	Further int // names it waits for that are not shown
	Meta    []metaRow
}

// metaRow is something that a holder says of itself.
type metaRow struct{ Key, Value string }

func holderRowOf(h *lock.Holder, now time.Time) holderRow {
	row := holderRow{
		Has: h.Has(), Process: processOf(h.Meta), Owner: driver.PublicOwner(h.Owner), Meta: metaRows(h.Meta),
		Since: h.Since, Held: "–", Left: "never ends",
	}
	if !h.Since.IsZero() {
		row.Held = brief(now.Sub(h.Since))
	}
	if h.TTL >= 0 {
		row.Left = brief(h.TTL)
	}
	if h.Linger > 0 {
		row.Linger = brief(h.Linger)
	}
	waits := namesIn(h.Waits)
	row.Waits = waits[:min(len(waits), mostWaits)]
	row.Further = len(waits) - len(row.Waits)
	return row
}

// namesIn leaves out what no lock can be called.
func namesIn(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return driver.CheckName(text) != nil })
}

// processOf says where a holder is, if it tells.
func processOf(meta map[string]string) string {
	return cut(strings.Trim(meta["host"]+"/"+meta["pid"], "/"), processLetters)
}

// metaRows are the metadata that the process does not say already.
func metaRows(meta map[string]string) (rows []metaRow) {
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if key == "host" || key == "pid" {
			continue
		}
		if len(rows) == mostMeta {
			return append(rows, metaRow{"…", fmt.Sprintf("%d in all", len(meta))})
		}
		rows = append(rows, metaRow{cut(key, metaLetters), cut(meta[key], metaLetters)})
	}
	return rows
}

// hasOf says what a holder has where the kind of lock leaves that open.
func hasOf(i *lock.Info, h *lock.Holder) string {
	switch {
	case i.Kind == driver.Mutex:
		return ""
	case i.Kind == driver.Semaphore && i.Limit > 0:
		return fmt.Sprintf("%s of %s", h.Has(), grouped(i.Limit))
	default:
		return h.Has()
	}
}
