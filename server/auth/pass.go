package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Credential is who makes a call.
type Credential struct {
	Name   string // of the token's line; empty without one
	Role   Role
	Remote string // address
}

// Pass is what a caller has shown: a token, good or not.
type Pass struct {
	Credential

	hash   [sha256.Size]byte // of the token
	tokens *Tokens           // nil: everybody may do everything
	denied error             // why even a good token would not help
}

// Identify finds out who shows a token. Nil Tokens let everybody do everything.
func (t *Tokens) Identify(token, remote string) Pass {
	if t == nil {
		return Pass{Credential: Credential{Role: Admin, Remote: remote}}
	}
	hash := sha256.Sum256([]byte(token))
	known := t.find(hash)
	return Pass{Credential: Credential{Name: known.name, Role: known.role, Remote: remote}, hash: hash, tokens: t}
}

// ErrUnauthenticated says that no token was shown, or none that is known.
var ErrUnauthenticated = errors.New("a valid token is needed")

// DeniedError says why a caller may not do something.
type DeniedError struct{ Problem string }

// Error implements error.
func (e *DeniedError) Error() string { return e.Problem }

// Admit lets a caller in to what needs at least a role, and returns a context that says
// so: see [CredentialFrom] and [UntilRevoked]. The error is [ErrUnauthenticated] or a
// [*DeniedError].
func (p *Pass) Admit(ctx context.Context, least Role) (context.Context, error) {
	switch {
	case p.denied != nil:
		return nil, p.denied
	case p.Role >= least:
		return context.WithValue(ctx, admissionKey{}, &admission{*p, least}), nil
	case p.Role == Nobody:
		return nil, ErrUnauthenticated
	default:
		return nil, &DeniedError{fmt.Sprintf("%s is %s; this needs %s", p.Name, p.Role, least)}
	}
}

// admission is what a caller was let in with, and for.
type admission struct {
	Pass

	least Role
}

type admissionKey struct{}

// CredentialFrom says who makes the call that a context belongs to.
func CredentialFrom(ctx context.Context) Credential {
	if a, ok := ctx.Value(admissionKey{}).(*admission); ok {
		return a.Credential
	}
	return Credential{}
}
