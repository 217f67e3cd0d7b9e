package locktest

// behaviour is one thing a backend must do, under the name of the failure that
// results when it does not.
type behaviour struct {
	name  string
	run   func(*env)
	needs []Capability
	lacks Capability // it is for backends without that
}

// behaviours lists all of them, by theme.
func behaviours() []behaviour {
	var all []behaviour
	for _, theme := range [][]behaviour{
		exclusion(), modes(), kinds(), sharing(), upgrading(), permits(), ordering(), tokens(), voting(),
		bundling(), noting(), latching(), pleading(),
		expiry(), renewal(), releasing(),
		wakeUps(), passing(), telling(), pleading(),
		unknownOutcomes(), faults(), restarts(), names(), reentry(), inspection(), closing(),
	} {
		all = append(all, theme...)
	}
	return all
}
