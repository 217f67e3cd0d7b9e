package driver

import (
	"context"

	"github.com/bedrock-go/bedrock/input"
)

// Downgrader is implemented by backends that can turn a grant to write into one to read. Without it package lock
// passes the former on to writers alone.
type Downgrader interface {
	// Downgrade has the owner of a grant in mode [Write] have it in mode [Shared] from now on, with the life that is
	// left of it, and the same tokens: readers who wait may come, as after a release, and no other writer comes in
	// between. The grant goes on to be renewed, annotated and released as it is. Done once more it changes nothing.
	// A grant that the store does not have (any more) is [ErrLost]; it is never made again. What [CheckDowngrade]
	// does not take is refused.
	Downgrade(ctx context.Context, g Grant) error
}

// CheckDowngrade says by an [*input.Error] why a grant cannot be made one to read.
func CheckDowngrade(g *Grant) error {
	if err := CheckOwner(g.Owner); err != nil {
		return err
	}
	if g.Mode != Write {
		return input.Errorf("mode", "is %s, only a grant to write becomes one to read", g.Mode)
	}
	return nil
}
