package txns_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/internal/sim/txns"
)

func TestMain(m *testing.M) {
	sim.Flags()
	m.Run()
}

func TestSim(t *testing.T) { sim.Hunt(t, txns.Scenario()) }

func TestRepeats(t *testing.T) { sim.Repeats(t, txns.Scenario(), 50) }
