package sqlite

import (
	"fmt"
	"os"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
)

// leaseClock is the clock that leases end by, in microseconds: that of the machine, which nobody sets. All who use the
// file are on it, and it begins anew with each boot.
func leaseClock() int64 { return int64(bootclock.Now() / time.Microsecond) }

const bootFile = "/proc/sys/kernel/random/boot_id"

// bootID tells one start of the machine from the next. Without it nobody knows what the clock of a lease says: a
// newcomer would end all leases of those who know, or keep those of before the start.
func bootID() (string, error) {
	text, err := os.ReadFile(bootFile)
	if err != nil {
		return "", fmt.Errorf("which start of this machine it is cannot be told, and leases go by its clock: %w", err)
	}
	if len(text) < 36 {
		return "", fmt.Errorf("which start of this machine it is cannot be told: %s has %d bytes", bootFile, len(text))
	}
	return string(text[:36]), nil
}
