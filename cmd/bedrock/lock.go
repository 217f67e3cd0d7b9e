package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

func newLock(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:   "lock",
		Short: "Run commands under locks, show and release locks",
		Example: `  bedrock lock run nightly-report -- ./report.sh
  bedrock lock ls orders/
  bedrock lock show orders/42
  bedrock lock yield orders/42 --reason 'a new release' --wait
  bedrock lock ls --server https://bedrock.example`,
	}
	c.AddCommand(newLockRun(sys), newLockLs(sys), newLockShow(sys), newLockRelease(sys), newLockWatch(sys),
		newLockYield(sys))
	return group(sys.onLocks(c))
}

// lockView is a lock as the commands print it.
type lockView struct{ lock.Info }

// holderView is one of those who have a lock, as the commands print it.
type holderView struct{ lock.Holder }

// holders are those who have the lock.
func (v *lockView) holders() []holderView {
	holders := make([]holderView, len(v.Holders))
	for i := range v.Holders {
		holders[i] = holderView{v.Holders[i]}
	}
	return holders
}

// placeView is somebody who waits for a fair lock, as the commands print it: like a holder, but for the lock.
type placeView struct{ holderView }

// places are those who wait for a fair lock, in order.
func (v *lockView) places() []placeView {
	places := make([]placeView, len(v.Line))
	for i, w := range v.Line {
		places[i] = placeView{holderView{lock.Holder{Owner: w.Owner, Since: w.Since, Meta: w.Meta}}}
	}
	return places
}

// String names who waits, and says for how long.
func (p *placeView) String() string { return p.who() + ", for " + p.held() }

// countWaiting is how many wait: those in line need not listen.
func (v *lockView) countWaiting() string { return strconv.Itoa(max(v.Waiting, len(v.Line))) }

// inLine says where this very program stands in line, if it does.
func (v *lockView) inLine() string {
	at := slices.IndexFunc(v.Line, func(w lock.InLine) bool { return isThisProgram(w.Meta) })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(", place %d in line", at+1)
}

// owner is what others may be told of the holder's owner, which itself is the key to a release.
// A server tells no more than that.
func (h *holderView) owner() string { return driver.AsPublicOwner(h.Owner) }

// asJSON is the lock in the JSON that the API has for it.
func (v *lockView) asJSON() json.RawMessage {
	i := driver.Info{Name: v.Name, Kind: v.Kind, Limit: v.Limit, Token: v.Token, Waiting: v.Waiting}
	for _, h := range v.Holders {
		i.Holders = append(i.Holders, driver.Holder{
			Owner: h.Owner, Mode: h.Mode, Permits: h.Permits, Upgradeable: h.Upgradeable, Token: h.Token,
			Since: h.Since, TTL: h.TTL, Linger: h.Linger, Meta: driver.EncodeMeta(h.Meta),
		})
	}
	for _, w := range v.Line {
		i.Line = append(i.Line, driver.InLine{Owner: w.Owner, Since: w.Since, Meta: driver.EncodeMeta(w.Meta)})
	}
	m := apiwire.Lock(i)
	for at, h := range v.holders() {
		m.Holders[at].Owner = h.owner()
	}
	for at, w := range v.places() {
		m.Line[at].Owner = w.owner()
	}
	return asJSON(m)
}

// viewsOf sorts by name: backends list in no particular order.
func viewsOf(infos []lock.Info) []lockView {
	views := make([]lockView, len(infos))
	for i := range infos {
		views[i] = lockView{infos[i]}
	}
	slices.SortFunc(views, func(a, b lockView) int { return cmp.Compare(a.Name, b.Name) })
	return views
}

// heldBy names the holders to somebody who waits for them: the first, and how many more.
func (v *lockView) heldBy() string { return "holder " + v.firstHolder() }

// firstHolder tells of the first holder which program it is or, if that is not known, which owner.
func (v *lockView) firstHolder() string {
	first := holderView{v.Holders[0]}
	if !first.tellsWho() {
		return oneLine(first.owner()) + v.howLong()
	}
	return first.who() + v.howLong()
}

// howLong tells of the first holder for how long it has the lock or, if that is not known, how much longer; and how
// many have it besides.
func (v *lockView) howLong() string {
	text, first := "", holderView{v.Holders[0]}
	switch {
	case !first.Since.IsZero():
		text = ", for " + first.held()
	case first.TTL < 0:
		text = ", whose lease never ends"
	case first.TTL > 0:
		text = ", with " + first.TTL.Round(time.Second).String() + " left of its lease"
	}
	if others := len(v.Holders) - 1; others > 0 {
		text += fmt.Sprintf(", and %d more", others)
	}
	return text
}

// ours reports whether this very program is a holder.
func (v *lockView) ours() bool {
	return slices.ContainsFunc(v.Holders, func(h lock.Holder) bool { return isThisProgram(h.Meta) })
}

// isThisProgram reports whether the metadata are those of this very program.
func isThisProgram(meta map[string]string) bool {
	host, err := os.Hostname()
	return err == nil && meta["host"] == host && meta["pid"] == strconv.Itoa(os.Getpid())
}

// owners lists the holders' owners. They are keys, and not for print.
func (v *lockView) owners() []string {
	owners := make([]string, len(v.Holders))
	for i := range v.Holders {
		owners[i] = v.Holders[i].Owner
	}
	return owners
}

// publicOwners lists what others may be told of the holders' owners.
func (v *lockView) publicOwners() []string {
	owners := make([]string, len(v.Holders))
	for i, h := range v.holders() {
		owners[i] = h.owner()
	}
	return owners
}

func (v *lockView) token() string { return strconv.FormatUint(v.Token, 10) }

// tellsWho reports whether it is known which program that is.
func (h *holderView) tellsWho() bool { return h.Meta["host"] != "" }

// who says which program that is, in words a person can act on.
func (h *holderView) who() string {
	if h.tellsWho() {
		return oneLine(strings.TrimSuffix(h.Meta["host"]+"/"+h.Meta["pid"], "/"))
	}
	return "-"
}

// held says for how long.
func (h *holderView) held() string {
	if h.Since.IsZero() {
		return "-"
	}
	return max(time.Since(h.Since), 0).Round(time.Second).String()
}

func (h *holderView) ttl() string {
	if h.TTL < 0 {
		return "never ends"
	}
	return h.TTL.Truncate(time.Millisecond).String()
}
