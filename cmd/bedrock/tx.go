package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

const defaultServer = "http://" + defaultListen

// remote is how a server is reached.
type remote struct {
	sys           *system
	server, token string
	authority     string
}

func newTx(sys *system) *cobra.Command {
	r := &remote{sys: sys}
	c := &cobra.Command{
		Use:   "tx",
		Short: "Submit transactions, show and steer them",
		Long: `Submit transactions to a server, show what became of them, and intervene.

The server is given by --server or BEDROCK_SERVER, and is ` + defaultServer + ` otherwise.
A token is given by BEDROCK_TOKEN, or by --token, which others on this machine can see.`,
		Example: `  bedrock tx submit order.yaml --wait
  bedrock tx ls --parked
  bedrock tx show order-42
  bedrock tx resume order-42 --reason 'the bank is back'`,
	}
	r.register(c)
	c.AddCommand(newTxLs(r), newTxShow(r), newTxWatch(r), newTxSubmit(r))
	for _, intervention := range interventions() {
		c.AddCommand(newTxAct(r, intervention))
	}
	return group(c)
}

func (r *remote) register(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&r.server, "server", "", "URL of the server (default $BEDROCK_SERVER, or "+defaultServer+")")
	flags.StringVar(&r.token, "token", "", "token to show (default $BEDROCK_TOKEN)")
	flags.StringVar(&r.authority, "ca", "", "PEM file of the authority behind the server's certificate")
}

// dial returns a client. With patience, calls are repeated for so long while the
// server does not answer.
func (r *remote) dial(patience time.Duration) (*client.Client, error) {
	token := r.setting("--token", r.token, "BEDROCK_TOKEN", "")
	opts := &client.Options{Token: token.value, Patience: patience, ForceReason: r.sys.forceReason}
	if r.authority != "" {
		config, err := trusting(r.authority)
		if err != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("--ca: %w", err)}
		}
		opts.TLS = config
	}
	server := r.setting("--server", r.server, "BEDROCK_SERVER", defaultServer)
	c, err := client.Dial(server.value, opts)
	if err != nil {
		err = inWordsOfSettings(err, map[string]setting{"address": server, "token": token})
		return nil, &exitError{exitUsage, err}
	}
	return c, nil
}

// setting is a value that is given by a flag or, without that, in the environment.
type setting struct{ from, value string }

func (r *remote) setting(flag, given, variable, standard string) setting {
	if given != "" {
		return setting{flag, given}
	}
	if value := r.sys.getenv(variable); value != "" {
		return setting{"$" + variable, value}
	}
	return setting{flag, standard}
}

// inWordsOfSettings names where a value came from in which something is wrong.
func inWordsOfSettings(err error, settings map[string]setting) error {
	wrong, ok := errors.AsType[*input.Error](err)
	if !ok || settings[wrong.Field].from == "" {
		return err
	}
	return &input.Error{Field: settings[wrong.Field].from, Problem: wrong.Problem}
}

func trusting(file string) (*tls.Config, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New(file + " has no PEM certificate")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, nil
}

// askServer connects for one question.
func (r *remote) askServer(ctx context.Context, question func(context.Context, *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return r.talk(ctx, -1, question)
}

// talk connects for as long as the talk takes.
func (r *remote) talk(
	ctx context.Context, patience time.Duration, talk func(context.Context, *client.Client) error,
) error {
	c, err := r.dial(patience)
	if err != nil {
		return err
	}
	defer c.Close()
	return fromServer(talk(ctx, c))
}

// fromServer gives what became of transactions codes of their own.
func fromServer(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	code := txExitCode(err)
	if connect.CodeOf(err) == connect.CodeUnauthenticated {
		err = fmt.Errorf("%w; it is shown with --token or in $BEDROCK_TOKEN", err)
	}
	return &exitError{code, err}
}

func txExitCode(err error) int {
	var rolledBack *txn.RolledBackError
	var parked *txn.ParkedError
	var inDoubt *txn.InDoubtError
	var field *txn.InvalidError
	code := connect.CodeOf(err)
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &rolledBack):
		return exitRolledBack
	case errors.As(err, &parked), errors.As(err, &inDoubt):
		return exitInDoubt
	case errors.Is(err, txn.ErrNotFound):
		return exitNotFound
	case errors.As(err, &field):
		return exitUsage
	case code == connect.CodeUnauthenticated, code == connect.CodePermissionDenied:
		return exitDenied
	case errors.Is(err, txn.ErrAction), errors.Is(err, txn.ErrDecided), errors.Is(err, txn.ErrExists):
		return exitFailed
	default:
		return exitUnavailable
	}
}
