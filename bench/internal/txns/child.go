package txns

import (
	"context"
	"fmt"
	"io"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/engine"
	"github.com/bedrock-go/bedrock/bench/internal/floor"
	"github.com/bedrock-go/bedrock/bench/internal/mincoord"
	"github.com/bedrock-go/bedrock/bench/internal/participants"
)

// Child is the life of a process that this program has started.
func Child(ctx context.Context, role string, in io.Reader, out io.Writer) error {
	pipe := child.NewPipe(in, out)
	switch role {
	case participants.Role:
		return participants.Work(ctx, pipe)
	case mincoord.Role:
		return mincoord.Work(ctx, pipe)
	case floor.Role:
		return floor.Work(ctx, pipe)
	case engine.Role:
		return engine.Work(ctx, pipe)
	default:
		return fmt.Errorf("no child is called %q", role)
	}
}
