package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Config says what to run.
type Config struct {
	// Store keeps the transactions. It stays its caller's to close, after Stop.
	Store driver.Store
	// Locks keeps the locks.
	Locks *lockurl.Backend
	// Allow says which participants may be called.
	Allow *allow.Rules
	// Tokens knows the clients. Nil lets everybody do everything.
	Tokens *auth.Tokens
	// Files are where Tokens and TLS come from. Nil: not from files.
	Files *auth.Files
	// TLS is the server's side of encryption. Nil: none.
	TLS *tls.Config

	// Replica, Lease and Keep are those of [coord.Options].
	Replica string
	Lease   time.Duration
	Keep    time.Duration
	// Elsewhere is that of [coord.Options].
	Elsewhere bool
	// Limits protects the server. Nil means the defaults.
	Limits *server.Limits
	// Archive is the folder that gets final transactions before they are removed;
	// empty: none does.
	Archive string
	// Collector is the URL that spans are sent to, over OTLP/HTTP; empty: none are.
	// The rest is up to OpenTelemetry's variables, such as OTEL_EXPORTER_OTLP_HEADERS.
	Collector string

	// StoreName is what is called the store in the log, without passwords.
	StoreName string
	// Version is that of the program, for its metrics.
	Version string

	Logger *slog.Logger
}

// Daemon runs until it is told to stop.
type Daemon struct {
	config  Config
	engine  *coord.Coordinator
	locks   *lockurl.Session
	backend lockdriver.Backend
	hangUp  func() error // closes the connections of locks
	metrics *prometheus.Registry
	counted *lockMetrics
	tracing *tracing
}

// Start begins to drive the transactions of the store. Nothing can be asked yet.
func Start(ctx context.Context, c Config) (*Daemon, error) {
	d := &Daemon{config: c, metrics: prometheus.NewRegistry()}
	process := collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
	d.metrics.MustRegister(collectors.NewGoCollector(), process)
	d.metrics.MustRegister(unusableFiles(c.Files))
	d.metrics.MustRegister(versions(c.Version))
	if err := d.openLocks(); err != nil {
		return nil, err
	}
	if err := d.startEngine(ctx); err != nil {
		d.tracing.stop(ctx)
		return nil, errors.Join(err, d.closeLocks(ctx))
	}
	return d, nil
}

// unusableFiles is the metric that tells of a token file with a slip in it, whose
// revocations are without effect.
func unusableFiles(files *auth.Files) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "bedrock_files_unusable",
		Help: "Token and certificate files that have changed and cannot be used; what they held before is in force.",
	}, func() float64 { return float64(len(files.Problems())) })
}

// versions is the metric that tells what runs here.
func versions(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bedrock_build_info", Help: "Always 1: the labels say what was built, and with which Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

func (d *Daemon) startEngine(ctx context.Context) (err error) {
	if d.tracing, err = startTracing(ctx, &d.config); err != nil {
		return err
	}
	if d.engine, err = d.newEngine(); err != nil {
		return err
	}
	return d.engine.Start(ctx)
}

// openLocks opens the locks twice: for the clients of the API, each of whom attends by itself, and for the console.
// Over one backend the console's client would be told in place of them.
func (d *Daemon) openLocks() (err error) {
	if d.counted, err = newLockMetrics(d.metrics); err != nil {
		return err
	}
	d.backend, d.hangUp, err = d.config.Locks.DriverForOthers()
	if err != nil {
		return err
	}
	d.locks, err = d.config.Locks.Open(lock.Options{Logger: d.config.Logger})
	if err != nil {
		return errors.Join(err, d.backend.Close(), d.hangUp())
	}
	return nil
}

func (d *Daemon) closeLocks(ctx context.Context) error {
	return errors.Join(d.locks.Stop(ctx), d.backend.Close(), d.hangUp())
}

// Serve answers on a listener until ctx ends, and then lets calls under way finish.
func (d *Daemon) Serve(ctx context.Context, l net.Listener) error {
	handler, err := d.handler()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	log := d.config.Logger.With("version", d.config.Version, "replica", d.config.Replica, "address", l.Addr().String())
	log.InfoContext(ctx, "server: started", "store", d.config.StoreName, "locks", d.config.Locks.String())
	err = server.Serve(ctx, l, handler, d.config.TLS)
	log.InfoContext(ctx, "server: stops")
	return err
}

// handler makes what answers: the API, and metrics and a console beside it.
func (d *Daemon) handler() (http.Handler, error) {
	operator := acting{d.engine}
	pages, err := d.console(operator)
	if err != nil {
		return nil, err
	}
	services := server.Services{
		Coordinator: d.engine, Inspector: d.engine, Operator: operator, Topics: d.engine, Locks: d.backend,
	}
	return server.New(services, &server.Options{
		Tokens: d.config.Tokens, Files: d.config.Files, Logger: d.config.Logger,
		Limits: d.config.Limits, LockObserver: d.counted,
		Mounts: []server.Mount{
			{Pattern: "GET /metrics", Handler: promhttp.HandlerFor(d.metrics, promhttp.HandlerOpts{})},
			{Pattern: "/", Handler: pages},
			{Pattern: "POST " + console.AskPath, Handler: pages, Role: roleToAsk},
		},
	})
}

func (d *Daemon) console(operator acting) (http.Handler, error) {
	counts, _ := d.config.Store.(driver.Counter)
	return console.New(d.engine, &console.Options{
		Operator: server.Audited(operator, d.config.Logger), Counts: counts, Locks: d.locks.Client,
		LockOperator: server.NewAuditedLocks(d.locks.Client, d.config.Logger, d.counted),
		MayAct:       func(ctx context.Context) bool { return auth.CredentialFrom(ctx).Role >= auth.Operator },
		MayAsk:       func(ctx context.Context) bool { return auth.CredentialFrom(ctx).Role >= roleToAsk(nil) },
		Name:         d.config.Replica,
		Stopping:     server.Stopping,
	})
}

// roleToAsk is who may ask for a lock on the console: the API lets them as well.
func roleToAsk(*http.Request) auth.Role { return auth.Client }

// Stop hands over what is under way to other replicas, or to the next start.
func (d *Daemon) Stop(ctx context.Context) error {
	err := errors.Join(d.engine.Stop(ctx), d.closeLocks(ctx))
	d.tracing.stop(ctx) // last, and with what the others have still done
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
