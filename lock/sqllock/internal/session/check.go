package session

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Columns are those of the table of tokens.
const Columns = written

// CheckSession says what is to be known of locks in a session. That there can be none is an error.
func (b *Backend) CheckSession(ctx context.Context) ([]driver.Finding, error) {
	_, err := overSession(ctx, b.line, func(ctx context.Context, s *session) (none struct{}, err error) {
		return none, b.keepAlive(ctx, s)
	})
	if err != nil {
		return nil, err
	}
	return []driver.Finding{{
		Level: driver.Notice, What: "the locks are those of a session",
		Means: "when its connection ends, so do they, and others have them at once. This client knows within a " +
			"second: what is written meanwhile has to be guarded by the token. A standby that takes over knows none",
	}}, nil
}
