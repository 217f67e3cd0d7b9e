package locks_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/internal/sim/locks"
)

func TestMain(m *testing.M) {
	sim.Flags()
	m.Run()
}

func TestRepeats(t *testing.T) { sim.Repeats(t, locks.Scenario(), 50) }

func TestSim(t *testing.T) { sim.Hunt(t, locks.Scenario()) }
