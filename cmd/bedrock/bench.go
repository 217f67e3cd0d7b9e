package main

import "github.com/spf13/cobra"

func newBench(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Measure a backend",
		Example: "  bedrock bench lock --backend redis://localhost:6379",
	}
	c.AddCommand(newBenchLock(sys))
	return group(c)
}
