package txn

// BranchPhases are the phases that a branch can have, in the order in which they are shown.
func BranchPhases() []Phase { return []Phase{PhaseDo, PhaseConfirm, PhaseUndo, PhaseHook} }

// Steps lists all calls of a transaction, made or not, that name a target.
func (t *Transaction) Steps() []Step {
	var all []Step
	if t.Check != nil {
		all = append(all, Step{Branch: -1, Phase: PhaseCheck})
	}
	for i := range t.Branches {
		for _, p := range BranchPhases() {
			if s := (Step{Branch: i, Phase: p}); t.Target(s) != "" {
				all = append(all, s)
			}
		}
	}
	return all
}
