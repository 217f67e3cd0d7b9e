package mutants

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Main tries the mutants that the command line selects, and ends the program. The
// exit code is 1 when a fault is missed, or no longer fits the code.
func Main(all []Mutant) {
	only := flag.String("only", "", "run the mutants whose name matches this regular expression")
	verbose := flag.Bool("v", false, "show what the tests say")
	side := flag.Int("p", 3, "how many to run side by side")
	var share part
	flag.Var(&share, "part", "run one part of the list, such as 3/8 for the third of eight")
	more := flag.String("args", "", "flags for tests that look for faults, such as \"-from 10000\"")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, hunting(share.cut(all), strings.Fields(*more)), *only, *verbose, max(*side, 1))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// hunting gives tests that look for faults more flags.
func hunting(all []Mutant, args []string) []Mutant {
	all = slices.Clone(all)
	for i := range all {
		if len(all[i].Hunt) > 0 {
			all[i].Hunt = slices.Concat(all[i].Hunt, args)
		}
	}
	return all
}

// run tries the mutants and prints what became of them.
func run(ctx context.Context, all []Mutant, only string, verbose bool, side int) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	lab, err := newLab(ctx)
	if err != nil {
		return err
	}
	defer lab.close()
	start, chosen := time.Now(), matching(all, pattern)
	if err := lab.healthy(ctx, chosen, side); err != nil {
		return err
	}
	verdicts := lab.tryAll(ctx, chosen, side)
	bad := show(chosen, verdicts, verbose)
	fmt.Printf("\n%d of %d caught in %s\n", len(chosen)-bad, len(chosen), time.Since(start).Round(time.Second))
	if bad > 0 {
		return fmt.Errorf("%d not caught", bad)
	}
	return nil
}

func matching(all []Mutant, pattern *regexp.Regexp) (chosen []Mutant) {
	for _, m := range all {
		if pattern.MatchString(m.Name) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// show prints the table and returns how many were not caught.
func show(all []Mutant, verdicts []verdict, verbose bool) (bad int) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "mutant\tverdict\tcaught by\ttime\t")
	for i, m := range all {
		v := verdicts[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, v.word, m.by(), v.took.Round(10*time.Millisecond), v.found)
		if v.word != caught {
			bad++
		}
	}
	_ = w.Flush() // standard output: nothing can be done about it
	for i, m := range all {
		if verbose || verdicts[i].word != caught {
			fmt.Printf("\n--- %s: %s\n%s\n", m.Name, verdicts[i].word, verdicts[i].output)
		}
	}
	return bad
}
