package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// onLocks gives the flags that say where locks are to a command, and to those below it: at a backend of their own, or
// at a Bedrock server.
func (s *system) onLocks(c *cobra.Command) *cobra.Command { return s.onServer(s.onBackend(c)) }

// onServer gives the flags for a server that has the locks to a command that has those for a backend.
func (s *system) onServer(c *cobra.Command) *cobra.Command {
	r := &remote{sys: s}
	flags := c.PersistentFlags()
	flags.StringVar(&r.server, "server", "",
		"URL of a Bedrock server that has the locks, in place of --backend (default $BEDROCK_SERVER)")
	flags.StringVar(&r.token, "token", "", "token to show to --server (default $BEDROCK_TOKEN)")
	flags.StringVar(&r.authority, "ca", "", "PEM file of the authority behind the certificate of --server")
	s.lockServers = append(s.lockServers, r)
	return c
}

// lockServer returns the server that has the locks; nil if a backend has them. What was typed goes before what the
// environment says, and there the backend before the server: BEDROCK_SERVER is for transactions first.
func (s *system) lockServer() (*remote, error) {
	r := s.typedServer()
	switch {
	case r.server != "" && s.backend.typed():
		return nil, &exitError{
			exitUsage, errors.New("--server and --backend exclude each other: locks are in one place"),
		}
	case r.server != "":
	case s.backend.typed() || s.getenv("BEDROCK_BACKEND") != "" || s.getenv("BEDROCK_SERVER") == "":
		if r.token != "" || r.authority != "" {
			return nil, &exitError{exitUsage, errors.New("--token and --ca are for --server")}
		}
		return nil, nil //nolint:nilnil // a backend has them
	}
	if flag := s.backend.firstGiven(severalFlags()...); flag != "" {
		return nil, &exitError{
			exitUsage, fmt.Errorf("--%s is for --backend: a server makes one lock of several itself", flag),
		}
	}
	return r, nil
}

// typedServer returns the flags of the command that runs, of those that may go to a server.
func (s *system) typedServer() *remote {
	for _, r := range s.lockServers {
		if r.server != "" || r.token != "" || r.authority != "" {
			return r
		}
	}
	return &remote{sys: s}
}

// severalFlags are those that make one lock of several backends.
func severalFlags() []string {
	return append(append([]string{"quorum", "combination"}, quorumFlags()...), combinationFlags()...)
}

// firstGiven returns the first of those flags that was typed.
func (f *backendFlags) firstGiven(names ...string) string {
	if at := slices.IndexFunc(names, f.given); at >= 0 {
		return names[at]
	}
	return ""
}

// openLocks connects to where the locks are. Memory says that they are in this process.
func (s *system) openLocks(opts lock.Options) (session *lockurl.Session, memory bool, err error) {
	server, err := s.lockServer()
	if err != nil {
		return nil, false, err
	}
	if server != nil {
		session, err = server.openLocks(opts)
		return session, false, err
	}
	backend, err := s.lockBackend()
	if err != nil {
		return nil, false, err
	}
	session, err = backend.Open(opts)
	return session, backend.Memory(), fromBackend(err)
}

// lockBackend prepares the backend the user gave, or the locks of this machine. It connects to nothing.
func (s *system) lockBackend() (*lockurl.Backend, error) {
	if s.backend.typed() || s.getenv("BEDROCK_BACKEND") != "" || s.backend.quorum || s.backend.combination {
		return s.newBackend("")
	}
	local, err := s.localLocks()
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	backend, err := s.newBackend(local)
	switch {
	case err != nil && local == "":
		return nil, s.orServer(fmt.Errorf("%w; without any they are in a file of this user, but %s", err, whyNoPlace()))
	case err != nil:
		return nil, s.orServer(err)
	}
	return backend, nil
}

// orServer adds to the error of who gave no backend that there may be a server in its place.
func (s *system) orServer(err error) error {
	if s.backend.typed() || s.getenv("BEDROCK_BACKEND") != "" {
		return err
	}
	return &exitError{exitUsage, fmt.Errorf("%w; or give the --server that has the locks, or set BEDROCK_SERVER", err)}
}

// openLocks connects to the server's locks.
func (r *remote) openLocks(opts lock.Options) (*lockurl.Session, error) {
	c, err := r.dial(-1)
	if err != nil {
		return nil, err
	}
	backend := c.Backend()
	locks, err := lock.New(backend, &opts)
	if err != nil {
		return nil, errors.Join(err, backend.Close(), c.Close())
	}
	return lockurl.NewSession(locks, c.Close), nil
}
