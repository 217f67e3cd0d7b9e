//go:build !unix

package demo

import "github.com/bedrock-go/bedrock/cmd/bedrock/internal/child"

// canFreeze says whether processes can be paused here.
const canFreeze = false

func freeze(*child.Process) {}

func thaw(*child.Process) {}
