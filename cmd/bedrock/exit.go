package main

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
)

// The exit codes. Where sysexits.h has a fitting one, it is that.
const (
	exitFailed     = 1
	exitRolledBack = 3
	exitInDoubt    = 4
	exitNotFound   = 5
	// exitInconclusive is torture's: nothing was found, and nothing was proved.
	exitInconclusive = 6
	exitUsage        = 64
	exitUnavailable  = 69
	exitListen       = 71
	exitHeld         = 75
	exitLost         = 76
	exitDenied       = 77
	// exitYielded is beyond those of sysexits.h: somebody has asked for the lock, and has it now.
	exitYielded     = 79
	exitInterrupted = 130
)

// exitError ends the program with a code of its own. Without an error nothing is
// printed.
type exitError struct {
	code int
	err  error
}

// Error implements error.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the error printed.
func (e *exitError) Unwrap() error { return e.err }

// reportError prints what went wrong and returns the exit code.
func reportError(sys *system, err error) int {
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok {
		exit = &exitError{exitCode(err), err}
	}
	if exit.code == exitInterrupted && !leavesDoubt(exit.err) {
		return exit.code // the user knows
	}
	if exit.err != nil {
		fmt.Fprintln(sys.stderr, "bedrock:", exit.err)
	}
	return exit.code
}

// leavesDoubt reports whether what failed may have taken effect all the same. Who interrupted
// it knows that it has ended, and not that.
func leavesDoubt(err error) bool {
	_, inDoubt := errors.AsType[*txn.InDoubtError](err)
	return inDoubt || lock.MaybeApplied(err)
}

func exitCode(err error) int {
	var badURL *lockurl.Error
	var badStore *storeurl.Error
	switch {
	case errors.Is(err, lock.ErrInvalid), errors.Is(err, lock.ErrKind), errors.Is(err, lock.ErrUnsupported),
		errors.As(err, &badURL), errors.As(err, &badStore):
		return exitUsage
	case errors.Is(err, lock.ErrHeld):
		return exitHeld
	case errors.Is(err, lock.ErrLost):
		return exitLost
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// fromBackend gives what the backend did not do a code of its own.
func fromBackend(err error) error {
	if err == nil || exitCode(err) != exitFailed {
		return err
	}
	if _, ok := errors.AsType[*exitError](err); ok || errors.Is(err, driver.ErrBelowZero) {
		return err
	}
	if connect.CodeOf(err) == connect.CodeUnauthenticated {
		return &exitError{exitDenied, fmt.Errorf("%w; it is shown with --token or in $BEDROCK_TOKEN", err)}
	}
	if connect.CodeOf(err) == connect.CodePermissionDenied {
		return &exitError{exitDenied, err}
	}
	return &exitError{exitUnavailable, err}
}

// newExitCodes is a help topic.
func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes of all commands:

    0  success
    1  the command failed; doctor: found a danger; demo: a promise was not kept;
       latch down: less is left than that, and nothing was taken
   64  the command line, a name, an option, a file or a URL is wrong, the name is that
       of a lock of another kind, or the backend has no such locks
   69  the backend, the store or the server did not answer, or refused
   77  the server wants a token, or one with another role
  130  interrupted, by SIGTERM too; a line says so if what was asked for may have taken effect

Exit codes of 'bedrock serve', which otherwise ends with 0 when it is interrupted:

   71  the address cannot be listened on

Exit codes of 'bedrock tx':

    3  the transaction was rolled back
    4  its outcome is in doubt, or it is parked
    5  there is no such transaction

Exit codes of 'bedrock torture':

    1  a promise was not kept
    6  inconclusive: a fault cannot be shown to have happened, or too little was going on

Exit codes of 'bedrock lock run', which otherwise ends with the command's own:

   75  the lock was not acquired within --wait; the command was not started
   76  the lock was lost while the command ran, or held for --max-hold; the command was ended
   79  somebody asked for the lock while the command ran with --yield; the command was ended
  126  the command cannot be executed
  127  the command was not found
128+n  the command was ended by signal n, or bedrock was while it waited for the lock

Those of 'bedrock elect' are the same, but for 75 and 76: it goes on until it leads.

Exit codes of 'bedrock lock yield':

    1  somebody has the lock, and none who has it can be told
   75  with --wait: some who had the lock still have it when the time is over

Exit codes of 'bedrock latch await':

   75  the latch was not open within --timeout`,
	}
}
