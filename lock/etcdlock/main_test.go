package etcdlock_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("ETCD_CLIENT_DEBUG", "fatal"); err != nil { // its client tells of each try that fails
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
