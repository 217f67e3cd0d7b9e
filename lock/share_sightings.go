package lock

import "slices"

// sightings are what refusals tell of those who go first: whoever is in its turn may go
// several times, and its second go is not that of somebody else who comes from further
// away.
type sightings struct {
	processes []string // that were seen to have the lock
	owner     string   // who had it when that was seen last
	again     int      // how many goes were those of processes seen before
}

// saw enters that this owner had the lock. One that does not tell its process, as that
// of a backend that tells hashes, is nobody seen before.
func (s *sightings) saw(owner string) {
	name, told := process(owner)
	if !told || owner == s.owner {
		return
	}
	s.owner = owner
	if !slices.Contains(s.processes, name) {
		s.processes = append(s.processes, name)
	} else {
		s.again++
	}
}

// beginAnew forgets everything.
func (s *sightings) beginAnew() {
	clear(s.processes)
	*s = sightings{processes: s.processes[:0]}
}
