package election_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// candidateVariable tells a child of this test binary at which server it takes part in the election.
const candidateVariable = "BEDROCK_ELECTION_CANDIDATE"

func TestMain(m *testing.M) {
	if addr := os.Getenv(candidateVariable); addr != "" {
		os.Exit(takePart(addr))
	}
	goleak.VerifyTestMain(m)
}
