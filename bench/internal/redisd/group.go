package redisd

import "context"

// Group is servers that know nothing of each other.
type Group []*Server

// StartGroup starts n of them.
func StartGroup(ctx context.Context, n int) (Group, error) {
	var g Group
	for range n {
		s, err := Start(ctx)
		if err != nil {
			g.Stop()
			return nil, err
		}
		g = append(g, s)
	}
	return g, nil
}

// Addrs returns where they listen.
func (g Group) Addrs() []string {
	var addrs []string
	for _, s := range g {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// Stop ends all of them.
func (g Group) Stop() {
	for _, s := range g {
		s.Stop()
	}
}
