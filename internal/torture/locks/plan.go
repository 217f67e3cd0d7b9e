package locks

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// Plan says what to torture, and for how long.
type Plan struct {
	// Backend is the URL of a backend that others run, or of a Bedrock server; empty: one
	// of Scenes is started.
	Backend string
	Start   string

	For  time.Duration
	Seed uint64
	// Dir gets the history and the logs.
	Dir string
	// Workers are the worker processes; each has two clients with Hands goroutines on
	// shared names, and Keepers on names of their own.
	Workers, Hands, Keepers int
	Program                 stage.Program
	// Progress gets a line now and then.
	Progress io.Writer
}

// Least is the shortest run that can prove anything.
const Least = 10 * time.Second

// The phases around the faults.
const (
	warmUp   = 2 * time.Second // traffic that must flow before the first fault
	coolDown = 4 * time.Second // time to recover after the last one
)

// The leases of shared names.
const (
	shortTTL = time.Second
	longTTL  = 20 * time.Second
)

// Scenes are the backends that a run can start by itself.
func Scenes() []string {
	return []string{
		"memory", "redis", "replica", "sentinel", "cluster", "server", "etcd", "zookeeper", "postgres", "mariadb",
		"sqlite",
	}
}

// Check refuses a plan that cannot be carried out.
func (p *Plan) Check() error {
	switch {
	case (p.Backend == "") == (p.Start == ""):
		return errors.New("give either --backend or --start")
	case p.Start != "" && !slices.Contains(Scenes(), p.Start):
		return fmt.Errorf("--start %q: there are %s", p.Start, strings.Join(Scenes(), ", "))
	case p.For < Least:
		return fmt.Errorf("--for is %s, at least %s are needed", p.For, Least)
	}
	return nil
}
