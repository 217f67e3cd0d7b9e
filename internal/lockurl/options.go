package lockurl

import (
	"fmt"
	"strings"
	"time"
)

func setDuration(field *time.Duration, v string, least, most time.Duration) string {
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > most {
		return fmt.Sprintf("is not a duration from %s to %s", least, most)
	}
	*field = d
	return ""
}

// named is a choice that has a name in URLs.
type named[T any] struct {
	name  string
	value T
}

// setChoice reads an option that is one of a few, or says what is wrong with it.
func setChoice[T any](field *T, v string, choices []named[T]) string {
	names := make([]string, len(choices))
	for i, c := range choices {
		if c.name == v {
			*field = c.value
			return ""
		}
		names[i] = c.name
	}
	if len(names) == 2 {
		return "is neither " + names[0] + " nor " + names[1]
	}
	return "is none of " + strings.Join(names, ", ")
}
