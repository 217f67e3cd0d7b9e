package daemon

import (
	"context"

	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

// acting records interventions under the name of who makes them, so that they can
// be told apart in a transaction's history.
type acting struct{ operator txn.Operator }

// Act implements [txn.Operator].
func (a acting) Act(ctx context.Context, id string, action txn.Action, reason string) error {
	who := auth.CredentialFrom(ctx)
	name := who.Name
	if name == "" {
		name = who.Remote
	}
	return a.operator.Act(txn.ContextWithActor(ctx, name), id, action, reason)
}
