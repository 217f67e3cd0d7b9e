package sqlite

import "fmt"

// unfreed is what processes have that are dead, by its name, and why it could not be given back: who wants it waits for
// the file to be written again, and for nobody.
type unfreed map[string]error

func (u unfreed) enterNames(names []string, why error) {
	for _, name := range names {
		u[name] = fmt.Errorf("it cannot be taken from a process that has died: %w", why)
	}
}

// enterUnfreed remembers it until the next look. Who was told before that others have it asks again.
func (f *file) enterUnfreed(now unfreed) {
	before := f.unfreed.Swap(&now)
	if len(now) > 0 && (before == nil || len(*before) == 0) {
		f.hub.signalAll()
	}
}

// whyUnfreed says why a name is kept by somebody who is dead; nil if it is not.
func (f *file) whyUnfreed(name string) error {
	if left := f.unfreed.Load(); left != nil {
		return (*left)[name]
	}
	return nil
}
