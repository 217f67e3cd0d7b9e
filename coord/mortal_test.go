package coord_test

import (
	"errors"

	"github.com/bedrock-go/bedrock/bedrocktest"
)

var errDead = errors.New("this coordinator is dead")

// die makes a store one as a coordinator sees it whose machine dies: from now on nothing
// it asks for happens.
func die(store *bedrocktest.Store) { store.FailAll(bedrocktest.Fault{Before: errDead}) }
