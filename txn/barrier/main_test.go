package barrier_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		dieAtWork(path)
	}
	goleak.VerifyTestMain(m)
}
