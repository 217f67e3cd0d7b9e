package lanes

// ManyLanes is when lanes that nobody uses are forgotten.
const ManyLanes = manyLanes

// Kept is how many lanes and hosts are remembered.
func (ls *Lanes) Kept() (all, hosts int) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.lane), len(ls.hosts)
}
