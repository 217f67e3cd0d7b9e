package httpclients

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// TestMain lets the test binary be the server that measurements start.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == child.Command {
		if err := Serve(context.Background(), child.NewPipe(os.Stdin, os.Stdout)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
