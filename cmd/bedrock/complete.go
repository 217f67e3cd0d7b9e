package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/txn"
)

const (
	completeLimit = time.Second // the longest that pressing TAB takes
	completeMost  = 100
)

// completeIDs offers the IDs of transactions that begin as typed; nothing when the
// server does not answer at once.
func (r *remote) completeIDs(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completeLimit)
	defer cancel()
	var ids []string
	_ = r.talk(ctx, -1, func(ctx context.Context, server *client.Client) error { // whoever presses TAB wants no errors
		page, err := server.List(ctx, txn.Query{Prefix: typed, Limit: completeMost})
		for _, t := range page.Transactions {
			ids = append(ids, t.ID+"\t"+string(t.Status))
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeID is completeIDs where one ID is all.
func (r *remote) completeID(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return r.completeIDs(c, args, typed)
}

// completeLock offers the names of locks that are held.
func (s *system) completeLock(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	session, _, err := s.openLocks(lock.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer closeSession(session)
	ctx, cancel := context.WithTimeout(c.Context(), completeLimit)
	defer cancel()
	infos, _ := session.List(ctx, typed, completeMost) // as for IDs
	var names []string
	for i := range infos {
		names = append(names, infos[i].Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeElection offers the names of locks that are held, as an election's is; after that comes a command.
func (s *system) completeElection(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return s.completeLock(c, args, typed)
}
