package interop

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
)

// countsAt has this program be another one, which counts a latch down on the server of that address until it is killed.
const countsAt = "BEDROCK_INTEROP_COUNTS_AT"

func TestMain(m *testing.M) {
	if addr := os.Getenv(countsAt); addr != "" {
		countForEver(addr)
	}
	if addr := os.Getenv(holdsAt); addr != "" {
		holdForEver(addr)
	}
	if addresses := os.Getenv(holdsAllAt); addresses != "" {
		holdAllForEver(addresses)
	}
	flag.Bool(matrix.UpdateFlag, false, "write docs/interop-redisson.md from what was played")
	goleak.VerifyTestMain(m)
}
