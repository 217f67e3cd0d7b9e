package mutants

import (
	"context"
	"regexp"
	"time"
)

// longestHunt is how long a test may look for a fault.
const longestHunt = 5 * time.Minute

// runHunt lets a test look for the fault. What it finds counts if the same run of the
// code as it is finds nothing.
func (l *lab) runHunt(ctx context.Context, m *Mutant, overlay string) verdict {
	start, test := time.Now(), anyOf([]string{m.Test})
	out, err := l.goTest(ctx, m.Pkg, test, overlay, m.Hunt...)
	v := verdictOf(ctx, out, err, time.Since(start))
	if v.word != caught {
		return v
	}
	run := runBroken.FindStringSubmatch(out)
	if run == nil {
		v.word = broken // it has failed for a reason of its own
		return v
	}
	v.found = run[0]
	if out, err := l.goTest(ctx, m.Pkg, test, "", "-seed", run[1]); err != nil {
		v.word, v.output = broken, "that run fails without any mutant, too:\n"+out
	}
	return v
}

// runBroken is how a simulation tells of the run that has broken a rule.
var runBroken = regexp.MustCompile(`\bseed (\d+)(?:: .{0,60}| failed once)`)
