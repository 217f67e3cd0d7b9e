package txns

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
	// Store is the URL of a store that others run; empty: one of Scenes is started.
	Store string
	Start string

	For  time.Duration
	Seed uint64
	// Dir gets the history, the logs and the accounts.
	Dir string
	// Clients are the clients that are there all the time.
	Clients  int
	Program  stage.Program
	Progress io.Writer
}

// Least is the shortest run that can prove anything.
const Least = 15 * time.Second

// The phases around the faults.
const (
	warmUp   = 2 * time.Second
	coolDown = 3 * time.Second
	// bound is how long after the last fault all must have come to its end.
	bound = 30 * time.Second
)

// Scenes are the stores that a run can start by itself.
func Scenes() []string { return []string{"sqlite", "postgres", "mariadb", "redis"} }

// Check refuses a plan that cannot be carried out.
func (p *Plan) Check() error {
	switch {
	case (p.Store == "") == (p.Start == ""):
		return errors.New("give either --store or --start")
	case p.Start != "" && !slices.Contains(Scenes(), p.Start):
		return fmt.Errorf("--start %q: there are %s", p.Start, strings.Join(Scenes(), ", "))
	case p.For < Least:
		return fmt.Errorf("--for is %s, at least %s are needed", p.For, Least)
	}
	return nil
}
