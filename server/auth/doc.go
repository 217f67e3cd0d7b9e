// Package auth says who may do what at a server: roles, the tokens that give them, the
// files that tokens and certificates come from, and where a server may listen without them.
//
// Whoever serves HTTP asks a request for its [Pass], and admits it to what needs a role:
//
//	pass := tokens.OfRequest(r)
//	ctx, err := pass.Admit(r.Context(), auth.Client) // ErrUnauthenticated or a *DeniedError
//	if err != nil {
//		return err
//	}
//	ctx, cancel := auth.UntilRevoked(ctx)
//	defer cancel()
//
// A listener of a protocol of its own does the same with [Tokens.Identify] and the token
// that a connection has shown. Which role something needs is for the server to say.
package auth
