package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/server/auth"
)

// serveFlags are those of serve as they were typed.
type serveFlags struct {
	listen, store, replica   string
	locks                    backendFlags
	allow                    []string
	tokens, certificate, key string
	insecure                 bool
	lease                    time.Duration
	retention, archive       string
	noMigrate, volatile      bool
	elsewhere                bool
	limits                   []string
	otlp                     string
	logLevel, logFormat      string
}

const (
	defaultListen = "127.0.0.1:7700"
	defaultStore  = "sqlite:bedrock-data/bedrock.db"
	forEver       = "for-ever"
)

func (f *serveFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", defaultListen, "address to listen on")
	flags.StringVar(&f.store, "store", "",
		"URL of the store of transactions (default $BEDROCK_STORE, or "+defaultStore+")")
	f.locks.register(flags, "locks",
		"URL of the backend of locks; mem: is this server's memory (default with the store: see above); "+
			"repeat it with --quorum or --combination")
	completeQuarantine(c)
	flags.StringArrayVar(&f.allow, "allow", nil,
		"a participant that may be called (repeatable); those on this machine may while --listen is a loopback address")
	flags.StringVar(&f.tokens, "tokens", "", "file of tokens: lines of role, name and hash; see 'bedrock token'")
	flags.StringVar(&f.certificate, "tls-cert", "", "PEM file of the server's certificate")
	flags.StringVar(&f.key, "tls-key", "", "PEM file of the certificate's key")
	flags.BoolVar(&f.insecure, "insecure", false, "serve a public address without TLS or tokens")
	flags.StringVar(&f.replica, "replica", "", "name of this server among those on one store (default the host's)")
	flags.DurationVar(&f.lease, "lease", 5*time.Second,
		"how long others leave the work of a server alone that says nothing any more")
	flags.StringVar(&f.retention, "retention", "168h", "how long final transactions are kept; "+forEver+" for all")
	flags.StringVar(&f.archive, "archive", "", "folder that gets final transactions before they are removed")
	flags.BoolVar(&f.noMigrate, "no-migrate", false, "leave the schema of databases alone; see 'bedrock migrate'")
	flags.BoolVar(&f.volatile, "allow-volatile", false, "accept a Redis that may lose transactions")
	flags.BoolVar(&f.elsewhere, "functions-elsewhere", false,
		"accept functions that this server does not have: programs with a coordinator of their own "+
			"on its store have them")
	flags.StringArrayVar(&f.limits, "limit", nil, "NAME=VALUE of a limit of the server (repeatable); see above")
	flags.StringVar(&f.otlp, "otlp", "",
		"URL of an OTLP/HTTP collector that gets traces (default $OTEL_EXPORTER_OTLP_ENDPOINT, or none)")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&f.logFormat, "log-format", "text", "text or json")
}

// servePlan is what the flags mean.
type servePlan struct {
	store        *storeurl.Location
	storeOptions storeurl.Options
	daemon       daemon.Config
	certificate  string
}

// plan understands the flags, and reads the files they name.
func (f *serveFlags) plan(sys *system) (*servePlan, error) {
	p := &servePlan{
		storeOptions: storeurl.Options{NoMigrate: f.noMigrate, AllowVolatile: f.volatile}, certificate: f.certificate,
		daemon: daemon.Config{
			Replica: f.replica, Lease: f.lease, Archive: f.archive, Elsewhere: f.elsewhere,
			Version: readBuild().Version,
		},
	}
	if p.daemon.Replica == "" {
		p.daemon.Replica, _ = os.Hostname()
	}
	var err error
	if p.store, err = storeurl.Parse(cmp.Or(f.store, sys.getenv("BEDROCK_STORE"), defaultStore)); err != nil {
		return nil, err
	}
	p.daemon.StoreName = p.store.String()
	if p.daemon.Locks, err = f.lockBackend(p.store); err != nil {
		return nil, err
	}
	if f.elsewhere && !p.store.Shared() {
		return nil, fmt.Errorf("--functions-elsewhere: no other program can work on --store %s, "+
			"so nobody would ever call them", p.store)
	}
	if p.daemon.Allow, err = f.callRules(); err != nil {
		return nil, err
	}
	if p.daemon.Limits, err = f.serverLimits(); err != nil {
		return nil, err
	}
	if p.daemon.Logger, err = f.logger(sys); err != nil {
		return nil, err
	}
	if p.daemon.Collector, err = collector(f.otlp, sys.getenv); err != nil {
		return nil, err
	}
	if p.daemon.Keep, err = f.retentionTime(); err != nil {
		return nil, err
	}
	if f.lease < coord.MinLease || f.lease > coord.MaxLease {
		return nil, fmt.Errorf("--lease is %s, allowed are %s to %s", f.lease, coord.MinLease, coord.MaxLease)
	}
	if err := f.protect(&p.daemon); err != nil {
		return nil, err
	}
	return p, f.checkArchive()
}

// checkArchive comes last, when nothing else is wrong: it makes a folder.
func (f *serveFlags) checkArchive() error {
	if f.archive == "" {
		return nil
	}
	if err := daemon.CheckArchive(f.archive); err != nil {
		return fmt.Errorf("--archive: %w", err)
	}
	return nil
}

// callRules makes the rules of calls. Who listens on the loopback address serves clients
// of this machine, which can reach its ports themselves; who listens elsewhere must not
// open them to others.
func (f *serveFlags) callRules() (*allow.Rules, error) {
	var texts []string
	if auth.OnlyLoopback(f.listen) {
		texts = strings.Fields(allow.Loopback().String())
	}
	rules, err := allow.Parse(append(texts, f.allow...)...)
	if err != nil {
		return nil, fmt.Errorf("--allow: %w", err)
	}
	return rules, nil
}

func (f *serveFlags) retentionTime() (time.Duration, error) {
	if f.retention == forEver {
		return -1, nil
	}
	d, err := time.ParseDuration(f.retention)
	if err != nil || d < coord.MinKeep || d > coord.MaxKeep {
		return 0, fmt.Errorf("--retention is %.40q: want a duration such as 168h, from %s to %s, or %s",
			f.retention, coord.MinKeep, coord.MaxKeep, forEver)
	}
	return d, nil
}

func (f *serveFlags) logger(sys *system) (*slog.Logger, error) {
	opts := &slog.HandlerOptions{}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level is %.40q: want debug, info, warn or error", f.logLevel)
	}
	opts.Level = level
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(sys.stderr, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(sys.stderr, opts)), nil
	default:
		return nil, fmt.Errorf("--log-format is %.40q: want text or json", f.logFormat)
	}
}

// protect reads tokens and certificates, and refuses to be public without them.
func (f *serveFlags) protect(c *daemon.Config) (err error) {
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return fmt.Errorf("--listen is %.80q: want host:port", f.listen)
	}
	if (f.certificate == "") != (f.key == "") {
		return errors.New("--tls-cert and --tls-key belong together: one is missing")
	}
	exposed := auth.Exposure{TLS: f.certificate != "", Tokens: f.tokens != "", Insecure: f.insecure}
	if err := exposed.Check(f.listen); err != nil {
		return fmt.Errorf("%w; give --tokens, --tls-cert and --tls-key, or --insecure", err)
	}
	c.Files = &auth.Files{Logger: c.Logger}
	if f.tokens != "" {
		if c.Tokens, err = c.Files.Tokens(f.tokens); err != nil {
			return err
		}
	}
	c.TLS, err = f.tls(c.Files)
	return err
}

func (f *serveFlags) tls(files *auth.Files) (*tls.Config, error) {
	if f.certificate == "" {
		return nil, nil //nolint:nilnil // no TLS is wanted
	}
	return files.TLS(f.certificate, f.key, "")
}
