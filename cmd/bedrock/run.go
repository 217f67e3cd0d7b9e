package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// system is what the commands have of the world around them, and the flags that
// several of them share.
type system struct {
	stdin, stdout, stderr *os.File
	getenv                func(string) string

	backend     backendFlags
	lockServers []*remote // the flags of each command that may have its locks from a server
	forceReason string    // why a lock is taken away, for a server
	overTLS     bool      // the backend's URL asks for TLS
	output      format    // -o
	started     bool      // arguments were accepted: an error is not a usage error
}

// run executes a command line and returns the exit code.
func run(args []string, sys *system) int {
	ctx, stop := untilInterrupted(context.Background())
	defer stop()
	quiet()
	root := newRoot(sys)
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	err = sys.orPlaintext(inWordsOfFlags(c, err))
	if err != nil && !sys.started {
		err = &exitError{exitUsage, fmt.Errorf("%w\nRun '%s --help' for usage", err, c.CommandPath())}
	}
	return reportError(sys, err)
}

func newRoot(sys *system) *cobra.Command {
	root := &cobra.Command{
		Use:   "bedrock",
		Short: "Distributed locks and transactions on the stores you already run",
		Long: `Bedrock lets services agree who may act, and whether it happened. This program serves
transactions and locks, shows and steers them, runs commands under a lock or on the host
that leads, checks whether a backend is set up safely, and measures it.

A server is reached at a URL, given by --server or the environment variable
BEDROCK_SERVER, by default http://127.0.0.1:7700; see 'bedrock serve' and 'bedrock tx'.

The commands lock, latch, elect, doctor, bench lock and torture locks go to the backend of locks themselves;
lock, latch and elect also to a server, by --server, or by BEDROCK_SERVER where there is no backend.
A backend is a URL, given by --backend or the environment variable BEDROCK_BACKEND:

  redis://[user:password@]host[:port][/db]
  rediss://…                                       over TLS: ?ca=FILE&cert=FILE&key=FILE
  redis-sentinel://[user:password@]host[:port],…/MASTER[/db][?sentinel-password=…]
  redis-cluster://[user:password@]host[:port],…
  etcd://[user:password@]host[:port],…             ?profile=compatible: shared with etcdctl lock
  zk://[user:password@]host[:port],…[/path]        ZooKeeper; ?profile=curator: shared with Curator
  postgres://[user:password@]host[:port]/database  ?profile=shedlock: shared with ShedLock
  mysql://[user:password@]host[:port]/database     and mariadb://; the same
  sqlite:FILE                                      all processes of this machine
  mem:                                             this process only, to try things out

Without any, lock, latch, elect and doctor use a file of this user on this machine.

Options follow the ?: ttl=30s, and of Redis acks=majority|all|N, ack-timeout=1s, token-ttl=24h,
profile=redisson|redlock, semaphores=expirable|plain, pubsub=auto|classic|sharded; of etcd
profile=own|compatible|elections, prefix=PREFIX; of ZooKeeper profile=escaped|curator|curator-latch,
session=40s; of databases table=NAME, profile=rows|shedlock, and advisory of PostgreSQL, named of MySQL.
See 'bedrock help exit-codes' for exit codes.

Several independent servers make one lock that outlives some of them: give --backend once for each,
or write their URLs into BEDROCK_BACKEND with spaces between, and say --quorum or --combination.
One of the URLs may have a ttl for all.`,
		Example: `  bedrock demo
  bedrock serve
  bedrock tx submit order.yaml --wait
  export BEDROCK_BACKEND=redis://localhost:6379
  bedrock lock run nightly-report --wait 5s -- ./report.sh
  bedrock lock ls
  bedrock doctor
  bedrock doctor --quorum --backend redis://a --backend redis://b --backend redis://c`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			sys.started = true
			return refuseEmptyURL(c.Flags())
		},
	}
	root.Version = readBuild().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetIn(sys.stdin)
	root.SetOut(sys.stdout)
	root.SetErr(sys.stderr)
	sys.output = formatTable
	flags := root.PersistentFlags()
	flags.VarP(&sys.output, "output", "o", "output format: table or json")
	_ = root.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(newServe(sys), newTx(sys), newMigrate(sys), newToken(sys), newLock(sys), newLatch(sys),
		newElect(sys), newBench(sys),
		newTorture(sys), newDoctor(sys), newDemo(sys), newDemoWorker(sys), newVersion(sys), newExitCodes())
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		group(completion)
	}
	return group(root)
}

// group makes a command that only has subcommands refuse unknown ones; cobra
// would show the help and succeed.
func group(c *cobra.Command) *cobra.Command {
	c.Args = subcommand
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// open connects to the backend the user gave, or the server.
func (s *system) open(opts lock.Options) (*lockurl.Session, error) {
	session, memory, err := s.openLocks(opts)
	if memory {
		fmt.Fprintln(s.stderr, "bedrock: note: mem: is the memory of this process: no other process sees its locks")
	}
	return session, err
}

const (
	askLimit   = 10 * time.Second // the longest a question to the backend takes
	closeLimit = 2 * time.Second  // the longest clean-up at the end takes
	lostLimit  = closeLimit / 10  // the same, when the backend was away until a lock was lost
)

// askBackend opens the backend for one question and closes it again.
func (s *system) askBackend(ctx context.Context, question func(context.Context, *lockurl.Session) error) error {
	session, err := s.open(lock.Options{})
	if err != nil {
		return err
	}
	defer closeSession(session)
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return fromBackend(question(ctx, session))
}

// closeSession cleans up. What cannot be cleaned up in time ends by itself.
func closeSession(session *lockurl.Session) { _ = closeWithin(session, closeLimit) }

func closeWithin(session *lockurl.Session, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return session.Stop(ctx)
}
