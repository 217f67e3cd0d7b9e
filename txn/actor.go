package txn

import "context"

type actorKey struct{}

// ContextWithActor says on whose behalf the code below acts. It is recorded with
// interventions.
func ContextWithActor(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, actorKey{}, who)
}

// Actor is on whose behalf a context acts; empty if nobody said.
func Actor(ctx context.Context) string {
	who, _ := ctx.Value(actorKey{}).(string)
	return who
}
