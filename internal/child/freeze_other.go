//go:build !unix

package child

import "errors"

// CanFreeze reports whether processes can be paused here.
const CanFreeze = false

// Freeze cannot pause where there are no signals.
func (p *Process) Freeze() error { return errors.ErrUnsupported }

// Thaw has nothing to do then.
func (p *Process) Thaw() {}
