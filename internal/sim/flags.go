package sim

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Flags adds the flags of simulations to those of go test. Call it in TestMain.
func Flags() {
	flag.Int("runs", usualRuns, "how many runs to simulate")
	flag.Uint64("from", 1, "the seed of the first run")
	flag.Uint64("seed", 0, "simulate only the run of this seed, and tell it")
	flag.String("parts", "", "with -seed: only these parts of the plan, such as 1,5,9")
	flag.String("rule", "", "mind only rules that contain this text")
	flag.Bool("survey", false, "go on after a failure, and count the rules that are broken")
	flag.Duration("stall", 20*time.Second, "the longest real time one run may take")
	flag.Duration("shrink", 20*time.Second, "how long to look for a shorter run that fails")
}

// settings are the values of the flags.
type settings struct {
	runs          int
	from, seed    uint64
	parts         []int
	survey        bool
	rule          string
	stall, shrink time.Duration
}

func readFlags() (s settings, err error) {
	s = settings{
		runs: get[int]("runs"), from: get[uint64]("from"), seed: get[uint64]("seed"),
		survey: get[bool]("survey"), rule: get[string]("rule"),
		stall: get[time.Duration]("stall"), shrink: get[time.Duration]("shrink"),
	}
	s.parts, err = readParts(get[string]("parts"))
	return s, err
}

func get[T any](name string) T {
	return flag.Lookup(name).Value.(flag.Getter).Get().(T)
}

func readParts(text string) (parts []int, err error) {
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("-parts: %w", err)
		}
		parts = append(parts, n)
	}
	return parts, nil
}

func writeParts(parts []int) string {
	words := make([]string, len(parts))
	for i, n := range parts {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
