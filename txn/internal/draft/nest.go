package draft

import (
	"maps"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/txn"
)

// Nest puts another draft in as one part: its branches come with the prefix
// "id/", wait for what the part waits for, and whoever waits for the part waits for
// the last of them.
func (d *Draft) Nest(id string, inner *Draft) {
	d.problems = append(d.problems, inner.problems...)
	if id == "" {
		d.Refuse("branches", "one that is nested has no id")
		return
	}
	if inner.Empty() {
		d.Refuse("branches", "nested "+id+" is empty")
		return
	}
	from := len(d.branches)
	prefix := id + "/"
	branches, links, err := inner.resolved()
	if err != nil {
		d.problems = append(d.problems, d.InWords(err))
		return
	}
	d.links += links
	own, groups := names(branches), maps.Clone(inner.groups) // inner may be d itself
	entries := make([]int, 0, 1)
	for i := range branches {
		if len(branches[i].After) == 0 {
			entries = append(entries, from+i)
		}
		d.addBranch(renamed(&branches[i], prefix, own))
	}
	d.latest = part{id: id, from: from, to: len(d.branches), entries: entries}
	d.group(id, leaves(branches), prefix)
	for name, last := range groups {
		d.group(prefix+name, last, prefix)
	}
}

// group remembers what waiting for a part means.
func (d *Draft) group(id string, last []string, prefix string) {
	if d.groups == nil {
		d.groups, d.ids = make(map[string][]string), names(d.branches)
	}
	if d.grouped(id) || d.ids[id] {
		d.Refuse("branches", "two parts are called "+id)
	}
	d.groups[id] = prefixed(prefix, last)
}

func (d *Draft) grouped(id string) bool {
	_, ok := d.groups[id]
	return ok
}

func names(branches []txn.Branch) map[string]bool {
	own := make(map[string]bool, len(branches))
	for i := range branches {
		own[branches[i].ID] = true
	}
	return own
}

// leaves are the branches that no other waits for.
func leaves(branches []txn.Branch) []string {
	waitedFor := make(map[string]bool)
	for i := range branches {
		for _, id := range branches[i].After {
			waitedFor[id] = true
		}
	}
	var last []string
	for i := range branches {
		if id := branches[i].ID; !waitedFor[id] {
			last = append(last, id)
		}
	}
	return last
}

// renamed copies a branch under its name in the outer draft. Names of branches of
// the same draft change with it.
func renamed(b *txn.Branch, prefix string, own map[string]bool) txn.Branch {
	c := *b
	c.ID = prefix + b.ID
	c.After = prefixed(prefix, b.After)
	if b.Use == nil {
		return c
	}
	c.Use = make(map[string]string, len(b.Use))
	for field, from := range b.Use {
		if source, _, _ := strings.Cut(from, "."); own[source] {
			from = prefix + from
		}
		c.Use[field] = from
	}
	return c
}

func prefixed(prefix string, ids []string) []string {
	if ids == nil {
		return nil
	}
	with := make([]string, len(ids))
	for i, id := range ids {
		with[i] = prefix + id
	}
	return with
}

// mostLinks bounds what waiting for parts may grow into: steps that wait for a
// part wait for each of its last branches, and every draft around writes that anew.
const mostLinks = 1 << 20

// resolved copies the branches, waiting for branches only, and says how many links have been
// written for that, those of drafts inside included.
func (d *Draft) resolved() (branches []txn.Branch, links int, err error) {
	branches, links = clones(d.branches), d.links
	if len(d.groups) == 0 {
		return branches, links, nil
	}
	for i := range branches {
		branches[i].After = d.expanded(branches[i].After)
		if links += len(branches[i].After); links > mostLinks {
			return nil, 0, &txn.InvalidError{Field: "branches", Problem: "too many of them wait for too many others"}
		}
	}
	return branches, links, nil
}

// expanded replaces parts by their last branches.
func (d *Draft) expanded(after []string) []string {
	if !slices.ContainsFunc(after, d.grouped) {
		return after
	}
	var ids []string
	seen := make(map[string]bool)
	for _, id := range after {
		for _, meant := range d.meaning(id) {
			if !seen[meant] {
				seen[meant] = true
				ids = append(ids, meant)
			}
		}
	}
	return ids
}

// meaning is who has to be done before a part is.
func (d *Draft) meaning(id string) []string {
	if last, ok := d.groups[id]; ok {
		return last
	}
	return []string{id}
}
