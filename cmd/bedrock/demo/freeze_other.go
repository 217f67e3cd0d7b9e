//go:build !unix

package demo

import (
	"errors"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/child"
)

// canFreeze says whether processes can be paused here.
const canFreeze = false

func freeze(*child.Process) error { return errors.ErrUnsupported }

func thaw(*child.Process) {}
