package sqlite

import (
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Options configure a client. The zero value and nil mean the defaults.
type Options struct {
	// Lock are the options that do not depend on the backend.
	Lock lock.Options
	// Table is what the tables are called, and begin with. Defaults to bedrock_locks.
	Table string
	// Relaxed does not wait for the disk. The locks are as good while the machine runs, whatever becomes of processes;
	// after a loss of power the newest tokens may be given out once more. It is some ten times as fast.
	Relaxed bool
	// ForOthers says that grants are asked for on behalf of others, as a server does for its clients: these have them
	// whatever becomes of this process, so that they end by their time alone. Else the locks of a process that has died
	// are free at once.
	ForOthers bool
	// BusyTimeout is how long a request waits for others who write to the file, before it is unavailable. Between
	// [MinBusyTimeout] and [MaxBusyTimeout]; defaults to 2 s.
	BusyTimeout time.Duration
}

// The limits of options.
const (
	MinBusyTimeout = 10 * time.Millisecond
	MaxBusyTimeout = time.Minute
)

const defaultBusyTimeout = 2 * time.Second

func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.Table == "" {
		filled.Table = rows.DefaultTable
	}
	if filled.BusyTimeout == 0 {
		filled.BusyTimeout = defaultBusyTimeout
	}
	if filled.BusyTimeout < MinBusyTimeout || filled.BusyTimeout > MaxBusyTimeout {
		return filled, input.Errorf("busyTimeout", "is %s, allowed are %s to %s", filled.BusyTimeout, MinBusyTimeout,
			MaxBusyTimeout)
	}
	return filled, rows.CheckTable(filled.Table)
}
