// Command bench measures Bedrock beside its peers.
//
//	go run . locks [-store redis|etcd|…|all] [-redis HOST:PORT,…] [-quick] [-o table|json|markdown]
//	go run . http [-quick]
//	go run . txns [-dtm URL] [-store sqlite|mariadb|postgres|redis|all] [-quick] [-o table|json|markdown]
//
// It runs on Linux and starts the servers it needs by itself, except for DTM's: that
// one has to run already.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/httpclients"
	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/txns"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	cancel()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run carries out the command named by the first argument.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say what to measure: bench locks, bench txns or bench http (bench locks -help tells more)")
	}
	switch command, rest := args[0], args[1:]; command {
	case "locks":
		return runLocks(ctx, rest)
	case "txns":
		return runTxns(ctx, rest)
	case "http":
		return runHTTP(ctx, rest)
	case child.Command:
		return runChild(ctx, rest)
	case locks.WorkerCommand:
		return locks.Work(ctx, os.Stdin, os.Stdout)
	default:
		return fmt.Errorf("no command is called %q; there are: locks, txns, http", command)
	}
}

// runChild is the life of a process that another one of this program has started.
func runChild(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("a child needs a role")
	}
	if args[0] == httpclients.Role {
		return httpclients.Serve(ctx, child.NewPipe(os.Stdin, os.Stdout))
	}
	return txns.Child(ctx, args[0], os.Stdin, os.Stdout)
}
