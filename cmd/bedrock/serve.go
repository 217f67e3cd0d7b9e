package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/internal/storeurl"
)

const (
	startLimit = 30 * time.Second // the longest a start takes
	stopLimit  = 15 * time.Second // the longest a hand-over takes
)

func newServe(sys *system) *cobra.Command {
	var flags serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a server: transactions, locks and a console on one port",
		Long: `Run a server that coordinates transactions, gives out locks and shows both in a
console, on one port. It ends at the first interrupt, and hands over what is under way.

Without arguments it listens on 127.0.0.1:7700, which only this machine reaches, and
keeps transactions in ./bedrock-data. Elsewhere it wants --tokens and --tls-cert.

The store is one of

  sqlite:PATH
  mysql://[user:password@]host[:port]/database        also mariadb://
  postgres://[user:password@]host[:port]/database
  redis://…, rediss://…, redis-sentinel://…, redis-cluster://…
  mem:                                                gone when the server stops

Several servers on one MySQL, PostgreSQL or Redis share the work, and the locks. These
are in the store, too, or beside its file in one of their own, PATH-locks; so none is
granted twice, and all of them outlive the servers. --locks has them somewhere else:
another database, Redis or etcd:// that all servers use, or mem:, the memory of this
one. BEDROCK_BACKEND does not say where they are: it is for commands that go to a backend
themselves. Several --locks with --quorum or --combination make locks that outlive some
of these servers.

Participants are HTTP endpoints and gRPC methods. Those on this machine may be called
as long as only this machine can reach the server; for others give --allow, such as
https://*.example.com, 10.0.0.0/8, localhost or host:port. A server never calls itself.
To try things out every server has some of its own:
` + describeSamples() + `

Limits protect the server from its clients. --limit streams-per-client=64 sets one; the
names, and what they are otherwise:
` + describeLimits(),
		Example: `  bedrock serve
  bedrock serve --store postgres://bedrock@db/bedrock --allow 'https://*.example.com'
  bedrock serve --listen 0.0.0.0:7700 --tokens tokens.txt --tls-cert server.pem --tls-key server.key`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return sys.runServer(c.Context(), &flags) },
	}
	flags.register(c)
	return c
}

// describeSamples lists the participants for people.
func describeSamples() string {
	var text strings.Builder
	for _, s := range daemon.Samples() {
		fmt.Fprintf(&text, "\n  %-12s %s", s.Name, s.Means)
	}
	return text.String()
}

// runServer runs a server until ctx ends.
func (s *system) runServer(ctx context.Context, flags *serveFlags) error {
	plan, err := flags.plan(s)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", flags.listen)
	if err != nil {
		return &exitError{exitListen, fmt.Errorf("listen: %w", err)}
	}
	err = s.serveOn(ctx, listener, plan)
	if closed := listener.Close(); closed != nil && !errors.Is(closed, net.ErrClosed) {
		return errors.Join(err, closed)
	}
	return err
}

// serveOn opens the store, starts what works on it, and takes both down again.
func (s *system) serveOn(ctx context.Context, listener net.Listener, p *servePlan) error {
	s.collectLess()
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	store, err := p.store.Open(starting, &p.storeOptions)
	if err != nil {
		return notStarted(ctx, err)
	}
	p.daemon.Store = store
	p.daemon.Allow = p.daemon.Allow.Except(portOf(listener))
	if p.daemon.Collector != "" {
		reportTelemetry(p.daemon.Logger)
	}
	d, err := daemon.Start(starting, p.daemon)
	if err != nil {
		return notStarted(ctx, errors.Join(err, store.Close()))
	}
	s.printWelcome(listener.Addr(), p)
	err = d.Serve(ctx, listener)
	stopping, done := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer done()
	return errors.Join(err, d.Stop(stopping), store.Close())
}

func portOf(l net.Listener) uint16 {
	if addr, ok := l.Addr().(*net.TCPAddr); ok {
		return addr.AddrPort().Port()
	}
	return 0
}

// notStarted says why a server has not started: something was in its way, or
// somebody has interrupted it.
func notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &exitError{exitUnavailable, err}
}

// printWelcome says where everything is, and what to do first.
func (s *system) printWelcome(addr net.Addr, p *servePlan) {
	base := p.base(addr)
	fmt.Fprintf(s.stdout, `Bedrock %s

console  %s/
API      %s/bedrock.v1.TransactionService/ and LockService/, gRPC or JSON
store    %s
locks    %s
traces   %s

A first transaction:

%s

`, readBuild().Version, base, base, p.store, p.locksShown(), cmp.Or(p.daemon.Collector, "not sent"), p.curl(base))
	if p.store.Kind == storeurl.Memory {
		fmt.Fprintln(s.stderr, "bedrock: note: --store mem: all transactions are gone when this server stops")
	}
	p.warnOfMemory(s.stderr)
}

// base is the server's address as a URL. An address that means all of this machine's
// is called by the one name that is there for sure.
func (p *servePlan) base(addr net.Addr) string {
	scheme := "http"
	if p.daemon.TLS != nil {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return scheme + "://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
		if name, err := os.Hostname(); err == nil && p.daemon.TLS != nil {
			host = name
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// curl is a line to paste that makes a transaction which commits.
func (p *servePlan) curl(base string) string {
	line := "curl -sS -H 'Content-Type: application/json'"
	if p.daemon.TLS != nil {
		line += " --cacert " + p.certificate
	}
	if p.daemon.Tokens != nil {
		line += ` -H "Authorization: Bearer $BEDROCK_TOKEN"`
	}
	return line + ` -d '{"definition": {"mode": "saga", "name": "first", "payload": {"order": 42}, "steps": [` +
		`{"id": "stock", "action": "demo.echo", "compensate": "demo.echo"}, ` +
		`{"id": "pay", "after": ["stock"], "action": "demo.slow", "compensate": "demo.echo"}]}, "wait": true}' ` +
		base + "/bedrock.v1.TransactionService/Submit"
}
