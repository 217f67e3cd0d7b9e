package mutants

import "fmt"

// part is one of several parts of a list, which together are the whole. The zero part is all of it.
type part struct{ number, parts int }

// String implements [flag.Value].
func (p *part) String() string { return fmt.Sprintf("%d/%d", max(p.number, 1), max(p.parts, 1)) }

// Set implements [flag.Value].
func (p *part) Set(text string) error {
	var rest string
	n, err := fmt.Sscanf(text+" .", "%d/%d %s", &p.number, &p.parts, &rest)
	if err != nil || n != 3 || rest != "." || p.number < 1 || p.number > p.parts {
		return fmt.Errorf("want a number of parts and which one, such as 3/8")
	}
	return nil
}

// cut returns the part of a list, with its neighbours together: they are tested by the same packages.
func (p *part) cut(all []Mutant) []Mutant {
	if p.parts == 0 {
		return all
	}
	return all[len(all)*(p.number-1)/p.parts : len(all)*p.number/p.parts]
}
