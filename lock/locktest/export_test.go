package locktest

// Theme is behaviours that belong together, for tests of what is told of them.
type Theme struct {
	Says  string
	Names []string
}

// Themes lists all behaviours.
func Themes() (all []Theme) {
	for _, of := range themes() {
		told := Theme{Says: of.says}
		for _, b := range of.behaviours {
			told.Names = append(told.Names, b.name)
		}
		all = append(all, told)
	}
	return all
}

// Exempts returns by name why a backend need not show a behaviour; it must show the others.
func (b *Backend) Exempts() map[string]string {
	reasons := make(map[string]string)
	for _, behaviour := range behaviours() {
		if reason, exempt := b.exempts(&behaviour); exempt {
			reasons[behaviour.name] = reason
		}
	}
	return reasons
}
