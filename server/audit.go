package server

import (
	"context"
	"log/slog"

	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

// Audited returns an operator that writes every intervention to a log: who, what
// and why. Give it to the console, too.
func Audited(operator txn.Operator, log *slog.Logger) txn.Operator {
	return &audited{operator, log}
}

type audited struct {
	operator txn.Operator
	log      *slog.Logger
}

// Act implements [txn.Operator].
func (a *audited) Act(ctx context.Context, id string, action txn.Action, reason string) error {
	err := a.operator.Act(ctx, id, action, reason)
	audit(ctx, a.log, string(action), err, "transaction", id, "reason", reason)
	return err
}

// audit writes one line of the audit trail.
func audit(ctx context.Context, log *slog.Logger, action string, err error, about ...any) {
	who := auth.CredentialFrom(ctx)
	about = append(about, "action", action, "who", who.Name, "role", who.Role.String(), "remote", who.Remote)
	if err != nil {
		about = append(about, "err", err)
	}
	log.InfoContext(ctx, "audit", about...)
}
