package locktest_test

import (
	"flag"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Bool(updateFlag, false, "write docs/conformance.md from what the conformance tests declare")
	m.Run()
}
