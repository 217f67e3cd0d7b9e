package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bedrock-go/bedrock/internal/nearest"
)

// wants is for commands that take arguments: it says which by their names.
func wants(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing: %s", names[len(args)], c.UseLine())
		case len(args) > len(names) && !strings.HasSuffix(names[len(names)-1], "…"):
			return fmt.Errorf("%.80q is one argument too many: %s", args[len(names)], c.UseLine())
		default:
			return nil
		}
	}
}

// subcommand refuses a word that is none, and says which one may be meant.
func subcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), didYouMean("", nearest.To(args[0], names)))
}

// flagError says which flag may be meant by one that is not there.
func flagError(c *cobra.Command, err error) error {
	typed, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, didYouMean("--", nearest.To(typed, names)))
}

func didYouMean(dashes, name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + dashes + name + "?"
}
