package modes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// TestModesAreToldApart: by their names, and each calls its participants in words of its
// own, of which no two mean the same operation.
func TestModesAreToldApart(t *testing.T) {
	var seen []string
	for _, m := range modes.All() {
		if slices.Contains(seen, m.Name()) || modes.Get(m.Name()) != m {
			t.Errorf("mode %s is not the only one of its name", m.Name())
		}
		seen = append(seen, m.Name())
		var words []string
		for _, phase := range m.Phases() {
			word := m.Op(phase)
			if slices.Contains(words, word) ||
				word == string(phase) && phase != txn.PhaseCheck && phase != txn.PhaseConfirm {
				t.Errorf("%s calls %s %q", m.Name(), phase, word)
			}
			words = append(words, word)
		}
		if len(words) == 0 {
			t.Errorf("%s calls nobody", m.Name())
		}
	}
	if modes.Get("none") != nil || !slices.Equal(seen, modes.Names()) {
		t.Errorf("names %v", modes.Names())
	}
}

func TestFieldsInTheWordsOfTheirMode(t *testing.T) {
	for field, want := range map[string]string{
		"saga branches[0].do": "steps[0].action", "saga branches[1].undo": "steps[1].compensate", "saga do": "action",
		"saga branches": "steps", `saga branches[0].use["do"]`: `steps[0].use["do"]`, "saga timeout": "timeout",
		"tcc branches[0].do": "branches[0].try", "tcc branches[0].policy.hook": "branches[0].policy.hook",
		"msg branches[2].confirm": "deliver[2].to", "none branches[0].do": "branches[0].do", "saga ": "",
	} {
		mode, field, _ := strings.Cut(field, " ")
		if got := modes.InWords(mode, field); got != want {
			t.Errorf("%s: %s is %s, want %s", mode, field, got, want)
		}
		if got := modes.Field(mode, want); got != field {
			t.Errorf("%s: %s was %s, want %s", mode, want, got, field)
		}
	}
}

func TestAModeThatIsNotThere(t *testing.T) {
	for name, want := range map[string]string{
		"":        "mode: is missing; want one of saga, tcc, msg",
		"sga":     `mode: "sga" is not known (did you mean saga?); want one of saga, tcc, msg`,
		"SAGA":    `mode: "SAGA" is not known (did you mean saga?); want one of saga, tcc, msg`,
		"message": `mode: "message" is not known (did you mean msg?); want one of saga, tcc, msg`,
		"xa":      `mode: "xa" is not known; want one of saga, tcc, msg`,
	} {
		if got := modes.Unknown(name).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
