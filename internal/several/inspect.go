package several

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// found is what a node tells of a name, or of several.
type found struct {
	info  driver.Info
	infos []driver.Info
	err   error
}

func (f found) whyNot() error { return f.err }

// Inspect describes a name as so many nodes see it: it is held by who has the votes that keep everybody else out.
func (s *Stores) Inspect(ctx context.Context, name string, least int) (driver.Info, error) {
	answers := each(ctx, s, least, 0, found.whyNot, func(ctx context.Context, n *Node) found {
		inspector, ok := n.Backend.(driver.Inspector)
		if !ok {
			return found{err: driver.ErrUnsupported}
		}
		info, err := inspector.Inspect(ctx, name)
		return found{info: info, err: err}
	})
	if err := enough(ctx, answers, least, found.whyNot); err != nil {
		return driver.Info{}, err
	}
	infos := make([]driver.Info, 0, len(answers))
	for _, a := range answers {
		if a.Value.err == nil {
			infos = append(infos, a.Value.info)
		}
	}
	return s.merge(name, infos), nil
}

// enough fails unless so many nodes have answered, with the reason of one that has not.
func enough[T any](ctx context.Context, answers []Answer[T], least int, errOf func(T) error) error {
	good, why := 0, cmp.Or(ctx.Err(), driver.ErrUnavailable)
	for _, a := range answers {
		if err := errOf(a.Value); err == nil {
			good++
		} else {
			why = fmt.Errorf("node %d: %w", a.Node.Number(), err)
		}
	}
	if good >= least {
		return nil
	}
	return fmt.Errorf("of the nodes, %d answered, %d are needed: %w", good, least, why)
}

// merge makes one description of several. Votes that keep others out may be those of nodes which have not answered: who
// has the others is shown, for it may be the holder.
func (s *Stores) merge(name string, infos []driver.Info) driver.Info {
	keep := max(s.rules.Keep-(len(s.Nodes)-len(infos)), 1)
	one := driver.Info{Name: name, Token: newest(infos, s.rules.Keep)}
	seen := make(map[string][]driver.Holder)
	for _, info := range infos {
		for _, h := range info.Holders {
			seen[driver.AsPublicOwner(h.Owner)] = append(seen[driver.AsPublicOwner(h.Owner)], h)
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(seen)) {
		if at := seen[owner]; len(at) >= keep {
			one.Holders = append(one.Holders, mergeHolder(at, keep))
		}
	}
	if len(one.Holders) == 0 {
		return one
	}
	for _, info := range infos {
		one.Waiting = max(one.Waiting, info.Waiting)
	}
	return one
}

// newest returns the newest token that as many nodes have reached as keep others out: the one that was agreed on is
// among those. What fewer of them have given out was not enough, or came late.
func newest(infos []driver.Info, keep int) uint64 {
	tokens := make([]uint64, len(infos))
	for i, info := range infos {
		tokens[i] = info.Token
	}
	slices.Sort(tokens)
	return tokens[max(len(tokens)-keep, 0)]
}

// mergeHolder describes a holder by what the nodes say of its votes. It has the lock until too few are left.
func mergeHolder(at []driver.Holder, keep int) driver.Holder {
	lives := make([]time.Duration, len(at))
	one := at[0]
	for i, h := range at {
		lives[i] = h.TTL
		one.Meta = cmp.Or(one.Meta, h.Meta)
		if one.Since.IsZero() || h.Since.Before(one.Since) && !h.Since.IsZero() {
			one.Since = h.Since
		}
	}
	slices.Sort(lives)
	one.TTL = lives[len(lives)-keep]
	return one
}

// List describes the locks that are held, and whose names begin with prefix.
func (s *Stores) List(ctx context.Context, prefix string, limit, least int) ([]driver.Info, error) {
	for most := limit; ; most *= 4 {
		list, cut, err := s.listMost(ctx, prefix, limit, most, least)
		if err != nil || !cut || len(list) == limit || most > mostListed {
			return list, err
		}
	}
}

// mostListed is how many names of a node are looked at for those that are held. Others may have some votes there.
const mostListed = 1 << 20

// listMost looks at so many names of each node, and reports whether there are more.
func (s *Stores) listMost(
	ctx context.Context, prefix string, limit, most, least int,
) (list []driver.Info, cut bool, err error) {
	answers := each(ctx, s, least, 0, found.whyNot, func(ctx context.Context, n *Node) found {
		inspector, ok := n.Backend.(driver.Inspector)
		if !ok {
			return found{err: driver.ErrUnsupported}
		}
		infos, err := inspector.List(ctx, prefix, most)
		return found{infos: infos, err: err}
	})
	if err := enough(ctx, answers, least, found.whyNot); err != nil {
		return nil, false, err
	}
	byName, heard := make(map[string][]driver.Info), 0
	for _, a := range answers {
		if a.Value.err == nil {
			heard++
		}
		cut = cut || len(a.Value.infos) >= most
		for _, info := range a.Value.infos {
			byName[info.Name] = append(byName[info.Name], info)
		}
	}
	list, err = s.mergeList(ctx, byName, cut, limit, least, heard)
	return list, cut, err
}

// mergeList makes one list of several. Where those were cut, each may lack what another one has.
func (s *Stores) mergeList(
	ctx context.Context, byName map[string][]driver.Info, cut bool, limit, least, heard int,
) ([]driver.Info, error) {
	var list []driver.Info
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if len(list) == limit {
			break
		}
		infos := byName[name]
		missing := heard - len(infos) // they have answered, and have nothing of that name
		info := s.merge(name, append(infos, make([]driver.Info, missing)...))
		if cut && len(info.Holders) == 0 {
			var err error
			if info, err = s.Inspect(ctx, name, least); err != nil {
				return nil, err
			}
		}
		if len(info.Holders) > 0 {
			list = append(list, info)
		}
	}
	return list, nil
}
