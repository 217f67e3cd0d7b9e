package locktest

// behaviour is one thing a backend must do, under the name of the failure that
// results when it does not.
type behaviour struct {
	name  string
	run   func(*env)
	needs []Capability
	lacks Capability // it is for backends without that
}

// theme is behaviours that belong together.
type theme struct {
	says       string // what holds where none of its failures happens
	behaviours []behaviour
}

// themes lists all behaviours.
func themes() []theme {
	return []theme{
		{"One holder at a time, whoever they are", exclusion()},
		{"What a backend does not keep it refuses", modes()},
		{"A name is that of one kind of lock at a time", kinds()},
		{"Many readers, or one writer", sharing()},
		{"A reader becomes a writer, and a writer a reader, with nobody in between", upgrading()},
		{"A grant to write becomes one to read, and stays what it is", downgrading()},
		{"So many permits at a time, and none is ever lost", permits()},
		{"A fair lock is had in the order of coming", ordering()},
		{"Every holder has a higher token than all before it", tokens()},
		{"A store that is one of several does not count if it may have forgotten", voting()},
		{"Several locks of one step are granted all, or none", bundling()},
		{"What is noted beside a grant changes nothing else", noting()},
		{"A latch counts each call once, and opens at zero", latching()},
		{"Leases end in time, not before, and their holders know it first", expiry()},
		{"What is held stays held", renewal()},
		{"Only its owner frees a lock, and once is as good as twice", releasing()},
		{"Who waits is woken", wakeUps()},
		{"A lock that is passed on goes to who stands in line", passing()},
		{"A holder is told what others do to its grants", telling()},
		{"A holder is told that its lock is asked for", pleading()},
		{"Through a backend of many clients each hears of its own grants", attending()},
		{"A request without an answer leaves nothing behind", unknownOutcomes()},
		{"A store in trouble holds nobody up, and deceives nobody", faults()},
		{"A store may go away and come back", restarts()},
		{"Different names never meet", names()},
		{"Only a context that carries the lease re-enters", reentry()},
		{"People see what is held, and can take it away", inspection()},
		{"A client that is closed leaves nothing", closing()},
	}
}

// behaviours lists them one after the other.
func behaviours() []behaviour {
	var all []behaviour
	for _, of := range themes() {
		all = append(all, of.behaviours...)
	}
	return all
}
