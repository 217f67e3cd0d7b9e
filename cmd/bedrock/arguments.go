package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// mayHave is for commands that take one argument, or none.
func mayHave(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%.80q is one argument too many: %s", args[1], c.UseLine())
	}
	return nil
}

// noArguments is for commands that take none.
func noArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasAvailableSubCommands():
		return subcommand(c, args)
	default:
		return fmt.Errorf("%.80q is one argument too many: %s", args[0], c.UseLine())
	}
}

// subcommand refuses a word that is none, and says which one may be meant, or which
// there are.
func subcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	hint := didYouMean("", nearest.To(args[0], names))
	if hint == "" {
		hint = "; there are " + strings.Join(names, ", ")
	}
	return fmt.Errorf("unknown command %.80q for %q%s", args[0], c.CommandPath(), hint)
}

// newHelp makes the command help refuse what is no command; cobra would show the help
// of what precedes it and succeed.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil {
				err = noArguments(c, rest)
			}
			if err != nil {
				return &exitError{exitUsage, err}
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
		ValidArgsFunction: completeCommands,
	}
}

// completeCommands completes the name of a command below those given.
func completeCommands(help *cobra.Command, above []string, typed string) (
	names []cobra.Completion, _ cobra.ShellCompDirective,
) {
	c, rest, err := help.Root().Find(above)
	if err == nil && len(rest) == 0 {
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), typed) {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// flagError says what is wrong with a flag, and which may be meant by one that is not there. After a
// word that is no command it is that command's flag, and the word what is wrong.
func flagError(c *cobra.Command, err error) error {
	if c.HasAvailableSubCommands() && c.Flags().NArg() > 0 {
		return subcommand(c, c.Flags().Args())
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "duration" {
		return fmt.Errorf("invalid argument %q for %q flag: want a duration such as 30s or 1m30s",
			wrong.GetValue(), "--"+wrong.GetFlag().Name)
	}
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
	return fmt.Errorf("%w%s", err, didYouMean("--", cmp.Or(nearest.To(typed, names), insteadOfBackend(typed, names))))
}

// insteadOfBackend returns the flag that says where locks are, or else what a command goes to,
// for who typed the one of the commands that go to a backend.
func insteadOfBackend(typed string, names []string) string {
	if typed != "backend" {
		return ""
	}
	for _, name := range []string{"locks", "server", "redis", "store"} {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

func didYouMean(dashes, name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + dashes + name + "?"
}

// refuseEmptyURL refuses a place that was typed and is empty, as that of a variable which is not set: without any there
// are the locks of this machine, which keep nobody out elsewhere.
func refuseEmptyURL(flags *pflag.FlagSet) error {
	for _, name := range []string{"backend", "locks", "server", "store"} {
		f := flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		list, ok := f.Value.(pflag.SliceValue)
		if ok && !slices.Equal(list.GetSlice(), []string{""}) || !ok && f.Value.String() != "" {
			continue
		}
		return &exitError{exitUsage, fmt.Errorf("--%s is empty: leave it out, or set what it was to come from", name)}
	}
	return nil
}
