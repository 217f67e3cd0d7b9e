package coord

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// unknownError is an ID that the store has no record of, in words for people.
type unknownError struct{ id string }

func (e *unknownError) Error() string { return fmt.Sprintf("transaction %q is not known", e.id) }

// Unwrap makes it a [driver.ErrNotFound].
func (e *unknownError) Unwrap() error { return driver.ErrNotFound }

// known says of a record that is not there which one that is, and nothing about the
// store; other errors stay what they are.
func known(id string, err error) error {
	if errors.Is(err, driver.ErrNotFound) {
		return &unknownError{id}
	}
	return err
}
