package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// backendFlags say where locks are: at one URL, or at several that make one lock together.
type backendFlags struct {
	urls                []string
	quorum, combination bool
	votes               quorum.Options
	dials               combination.Options

	sets []*pflag.FlagSet // each command that goes to a backend has one
}

// The flags of one way to make a lock of several backends, which those of the other way go without.
func quorumFlags() []string { return []string{"majority", "surplus", "quarantine"} }

func combinationFlags() []string {
	return []string{"node-timeout", "min-nodes", "node-retry", "acquire-timeout"}
}

// register gives a command the flag for URLs, which has that name, and those that make one lock of several.
func (f *backendFlags) register(flags *pflag.FlagSet, name, usage string) {
	flags.StringArrayVar(&f.urls, name, nil, usage)
	flags.BoolVar(&f.quorum, "quorum", false,
		"one lock of several --"+name+": whoever has the votes of a majority has it")
	flags.IntVar(&f.votes.Majority, "majority", 0, "of --quorum: votes that a lock needs (default more than half)")
	flags.IntVar(&f.votes.Surplus, "surplus", 0, "of --quorum: how many that have granted a lock may forget it")
	flags.Var((*quarantine)(&f.votes.Quarantine), "quarantine",
		"of --quorum: how long one that was started has no vote, at least the longest TTL; or none (default the TTL)")
	flags.BoolVar(&f.combination, "combination", false,
		"one lock of several --"+name+": taken at one after the other, in the same order everywhere")
	flags.DurationVar(&f.dials.NodeTimeout, "node-timeout", 0,
		"of --combination: how long one is waited for (default 5ms)")
	flags.IntVar(&f.dials.MinNodes, "min-nodes", 0,
		"of --combination: how many must answer when a lock is taken (default 2)")
	flags.DurationVar(&f.dials.Retry, "node-retry", 0,
		"of --combination: how long one is left out that has not answered (default 15m)")
	flags.DurationVar(&f.dials.AcquireTimeout, "acquire-timeout", 0,
		"of --combination: how long all of them may take (default --node-timeout for each, and 100ms)")
	f.sets = append(f.sets, flags)
}

// completeQuarantine offers the word beside the durations.
func completeQuarantine(c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("quarantine",
		cobra.FixedCompletions([]string{noQuarantine}, cobra.ShellCompDirectiveNoFileComp))
}

// typed reports whether there is a URL. One that was typed and is empty is refused before; among others it is a slip.
func (f *backendFlags) typed() bool { return len(f.urls) > 1 || len(f.urls) == 1 && f.urls[0] != "" }

// given reports whether a flag was typed.
func (f *backendFlags) given(name string) bool {
	return slices.ContainsFunc(f.sets, func(set *pflag.FlagSet) bool { return set.Changed(name) })
}

// open prepares the backend of those URLs, which were given as it is called where.
func (f *backendFlags) open(urls []string, where string) (*lockurl.Backend, error) {
	if err := f.check(len(urls), where); err != nil {
		return nil, err
	}
	var (
		backend *lockurl.Backend
		err     error
	)
	switch {
	case f.quorum:
		backend, err = lockurl.NewQuorum(urls, &f.votes)
	case f.combination:
		backend, err = lockurl.NewCombination(urls, &f.dials)
	default:
		backend, err = lockurl.New(urls[0])
	}
	return backend, inWordsOfNodes(where, err)
}

// check refuses what does not fit together.
func (f *backendFlags) check(urls int, where string) error {
	several := f.quorum || f.combination
	switch {
	case f.quorum && f.combination:
		return errors.New("--quorum and --combination exclude each other")
	case urls > 1 && !several:
		return fmt.Errorf("%s has %d backends: say how they make one lock, with --quorum, by the votes of a majority, "+
			"or with --combination, one after the other", where, urls)
	case urls <= 1 && several:
		kind := "--quorum"
		if f.combination {
			kind = "--combination"
		}
		return fmt.Errorf("%s is for several backends: %s has one", kind, where)
	}
	for _, other := range []struct {
		kind  string
		given bool
		flags []string
	}{{"--quorum", f.quorum, quorumFlags()}, {"--combination", f.combination, combinationFlags()}} {
		if at := slices.IndexFunc(other.flags, f.given); at >= 0 && !other.given {
			return fmt.Errorf("--%s is for %s", other.flags[at], other.kind)
		}
	}
	return nil
}

// inWordsOfNodes names the flag that sets the field which is wrong, or would, where several backends were given.
func inWordsOfNodes(where string, err error) error {
	wrong, ok := errors.AsType[*input.Error](err)
	if !ok {
		return err
	}
	switch wrong.Field {
	case "backend":
		return fmt.Errorf("%s: %s", where, wrong.Problem)
	case "nodes":
		return fmt.Errorf("%s: nodes %s", where, wrong.Problem)
	case "retry":
		return fmt.Errorf("--node-retry %s", wrong.Problem)
	case "acquireTimeout": // it names another field
		return fmt.Errorf("--acquire-timeout %s", strings.ReplaceAll(wrong.Problem, "nodeTimeout", "--node-timeout"))
	}
	return fmt.Errorf("--%s %s", flagOf(wrong.Field), wrong.Problem)
}

// splitURLs finds the URLs in a variable, of which spaces keep several apart. A single one may have a space in it.
func splitURLs(text string) []string {
	words := strings.Fields(text)
	for _, word := range words {
		if !strings.HasPrefix(word, "mem:") && !strings.Contains(word, "://") {
			return []string{text}
		}
	}
	return words
}

// onBackend gives the flags for the backend of locks to a command that goes there, and to those
// below it.
func (s *system) onBackend(c *cobra.Command) *cobra.Command {
	s.backend.register(c.PersistentFlags(), "backend",
		"URL of the backend (default $BEDROCK_BACKEND); repeat it with --quorum or --combination")
	completeQuarantine(c)
	return c
}

// onOneBackend is onBackend for a command that knows what to do with one only.
func (s *system) onOneBackend(c *cobra.Command) *cobra.Command {
	c.PersistentFlags().StringArrayVar(&s.backend.urls, "backend", nil,
		"URL of the backend (default $BEDROCK_BACKEND)")
	return c
}

// backendURLs returns the URLs the user gave, and where.
func (s *system) backendURLs(fallback string) (urls []string, where string, err error) {
	if s.backend.typed() {
		return s.backend.urls, "--backend", nil
	}
	if urls := splitURLs(s.getenv("BEDROCK_BACKEND")); len(urls) > 0 && urls[0] != "" {
		return urls, "BEDROCK_BACKEND", nil
	}
	if fallback != "" {
		return []string{fallback}, "--backend", nil
	}
	return nil, "", &exitError{exitUsage, fmt.Errorf(
		"no backend: give --backend or set BEDROCK_BACKEND, for example redis://localhost:6379; there are %s",
		lockurl.Schemes,
	)}
}

// oneBackendURL is backendURLs where there can be one only.
func (s *system) oneBackendURL() (string, error) {
	urls, where, err := s.backendURLs("")
	if err == nil && len(urls) > 1 {
		err = &exitError{exitUsage, fmt.Errorf("%s has %d backends: this command takes one", where, len(urls))}
	}
	if err != nil {
		return "", err
	}
	return urls[0], nil
}

// refuseSeveral refuses several backends to what one keeps alone. What else is wrong is told by who opens it.
func (s *system) refuseSeveral() error {
	if urls, _, err := s.backendURLs(""); err != nil || len(urls) < 2 {
		return nil //nolint:nilerr // a server may have it
	}
	_, err := s.oneBackendURL()
	return err
}

// refuseMore refuses flags that ask for more than a plain mutex, where several backends make one lock.
func (f *backendFlags) refuseMore(flags *pflag.FlagSet, names ...string) error {
	kind := f.firstGiven("quorum", "combination")
	if kind == "" {
		return nil
	}
	for _, name := range names {
		if given := flags.Lookup(name); given.Changed && given.Value.String() != "false" {
			err := fmt.Errorf("--%s is for one backend: --%s makes a plain mutex of several", name, kind)
			return &exitError{exitUsage, err}
		}
	}
	return nil
}

// newBackend prepares the backend the user gave. It connects to nothing.
func (s *system) newBackend(fallback string) (*lockurl.Backend, error) {
	urls, where, err := s.backendURLs(fallback)
	if err != nil {
		return nil, err
	}
	backend, err := s.backend.open(urls, where)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	s.overTLS = asksForTLS(urls)
	return backend, nil
}
