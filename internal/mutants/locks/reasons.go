package main

import "github.com/bedrock-go/bedrock/internal/mutants"

// reasonMutants are faults in telling why a lock was lost.
func reasonMutants() []mutants.Mutant {
	return []mutants.Mutant{
		{
			Name: "a loss by the clock has no reason", File: "lock/renew.go", Pkg: front,
			Old: "			h.asked, h.trouble = 0, err\n", New: "			h.asked = 0\n",
			Test: "TestALossByTheClockSaysWhatTheRenewalsWereTold/refused",
		},
		{
			Name: "a renewal that has no answer is one that was not made", File: "lock/renew.go", Pkg: front,
			Old: "		h.asked = r.client.now()\n", New: "		h.asked = 0\n",
			Test: "TestALossByTheClockSaysWhatTheRenewalsWereTold/no_answer",
		},
		{
			Name: "the reason of a loss outlasts a renewal", File: "lock/renew.go", Pkg: front,
			Old: "		h.asked, h.trouble = 0, nil\n", New: "		h.asked = 0\n",
			Test: "TestALossSaysWhatIsOver",
		},
		{
			Name: "the reason of a loss leaves doubt", File: "lock/internal/outcome/outcome.go", Pkg: front,
			Old: "&foreignError{&anothersError{err}}", New: "&foreignError{err}",
			Test: "TestALossByTheClockSaysWhatTheRenewalsWereTold/in_doubt",
		},
		{
			Name: "the reason of a loss is the end of a context", File: "lock/internal/outcome/outcome.go", Pkg: front,
			Old: "&foreignError{&anothersError{err}}", New: "&anothersError{err}",
			Test: "TestALossThatIsToldWithItsReason",
		},
	}
}
