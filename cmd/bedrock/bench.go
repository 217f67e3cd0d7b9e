package main

import "github.com/spf13/cobra"

func newBench(sys *system) *cobra.Command {
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Measure a backend of locks, a server or a store",
		Example: "  bedrock bench lock --backend redis://localhost:6379\n  bedrock bench tx",
	}
	c.AddCommand(newBenchLock(sys), newBenchTx(sys))
	return group(c)
}
