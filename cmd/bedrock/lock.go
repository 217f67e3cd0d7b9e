package main

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/lock"
)

func newLock(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:   "lock",
		Short: "Run commands under locks, show and release locks",
		Example: `  bedrock lock run nightly-report -- ./report.sh
  bedrock lock ls orders/
  bedrock lock show orders/42`,
	}
	c.AddCommand(newLockRun(sys), newLockLs(sys), newLockShow(sys), newLockRelease(sys), newLockWatch(sys))
	return group(c)
}

// lockView is a lock as the commands print it.
type lockView struct {
	Name    string            `json:"name"`
	Held    bool              `json:"held"`
	Owner   string            `json:"owner,omitempty"`
	Token   uint64            `json:"token"`
	Since   *time.Time        `json:"since,omitempty"`
	TTL     int64             `json:"ttl_ms,omitempty"` // -1: it never ends
	Waiting int               `json:"waiting"`
	Meta    map[string]string `json:"meta,omitempty"`
}

func viewOf(i lock.Info) lockView {
	v := lockView{Name: i.Name, Held: i.Held(), Owner: i.Owner, Token: i.Token, Waiting: i.Waiting, Meta: i.Meta}
	if !i.Held() {
		return v
	}
	if !i.Since.IsZero() {
		since := i.Since.UTC()
		v.Since = &since
	}
	if v.TTL = i.TTL.Milliseconds(); i.TTL < 0 {
		v.TTL = -1
	}
	return v
}

// viewsOf sorts by name: backends list in no particular order.
func viewsOf(infos []lock.Info) []lockView {
	views := make([]lockView, len(infos))
	for i := range infos {
		views[i] = viewOf(infos[i])
	}
	slices.SortFunc(views, func(a, b lockView) int { return cmp.Compare(a.Name, b.Name) })
	return views
}

// holder says who it is, in words a person can act on.
func (v *lockView) holder() string {
	if host := v.Meta["host"]; host != "" {
		return strings.TrimSuffix(host+"/"+v.Meta["pid"], "/")
	}
	return "-"
}

// ours tells whether that is this very program.
func (v *lockView) ours() bool {
	host, err := os.Hostname()
	return err == nil && v.Meta["host"] == host && v.Meta["pid"] == strconv.Itoa(os.Getpid())
}

// held says for how long.
func (v *lockView) held() string {
	if v.Since == nil {
		return "-"
	}
	return max(time.Since(*v.Since), 0).Round(time.Second).String()
}

func (v *lockView) ttl() string {
	if v.TTL < 0 {
		return "never ends"
	}
	return (time.Duration(v.TTL) * time.Millisecond).String()
}

func (v *lockView) token() string { return strconv.FormatUint(v.Token, 10) }
