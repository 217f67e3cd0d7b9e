package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the binary knows of its making.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(sys *system) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  bedrock version\n  bedrock version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			if sys.output == formatJSON {
				return writeJSON(sys.stdout, b)
			}
			_, err := fmt.Fprintln(sys.stdout, b)
			return err
		},
	}
}

func readBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns one line for people.
func (b build) String() string {
	text := "bedrock " + b.Version
	if b.Commit != "" {
		text += " " + b.Commit
	}
	if b.Modified {
		text += " (modified)"
	}
	return text + " " + b.Go + " " + b.Platform
}
