// Package modes is the one list of the modes there are. A mode that is not here is known
// to nobody: not to a coordinator, a definition file, a command or the console.
package modes

import (
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// All lists the modes.
func All() []txn.Mode { return []txn.Mode{saga.Mode{}, tcc.Mode{}, msg.Mode{}} }

// Get finds a mode by its name; nil if there is none.
func Get(name string) txn.Mode {
	all := All()
	i := slices.IndexFunc(all, func(m txn.Mode) bool { return m.Name() == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Names lists what definitions call them.
func Names() []string {
	var names []string
	for _, m := range All() {
		names = append(names, m.Name())
	}
	return names
}

// Unknown refuses the name of a mode that is none.
func Unknown(name string) *txn.InvalidError {
	want := strings.Join(Names(), ", ")
	if name == "" {
		return &txn.InvalidError{Field: "mode", Problem: "is missing; want one of " + want}
	}
	return input.Errorf("mode", "%.40q is not known%s; want one of %s", name, nearest.Hint(name, Names()), want)
}
