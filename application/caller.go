package application

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// RunContext is the run that a caller acts for, with its grants: from the signed agent token,
// or for a harness from the store. An agent can change nothing in it.
type RunContext struct {
	RunID       run.ID
	Incarnation string
	Grants      run.Grants
}

// ContextOf returns the run context of a run.
func ContextOf(r run.Run) RunContext {
	return RunContext{RunID: r.ID, Incarnation: r.Incarnation, Grants: r.Grants}
}

// Caller is who sent a request: a harness, or the agent of one run.
type Caller struct {
	// Harness is the name of the harness key; empty for an agent.
	Harness string
	// Agent is the run context of the agent's token; nil for a harness.
	Agent *RunContext
}

// RequireHarness returns FORBIDDEN unless the caller is a harness.
func (c Caller) RequireHarness() error {
	if c.Harness == "" {
		return fault.New(fault.Forbidden)
	}
	return nil
}

// Tokens issues and checks agent tokens.
type Tokens interface {
	// Issue returns the token of the run: bound to its id, incarnation and grants, and valid
	// for a while past the deadline, which the store judges.
	Issue(r run.Run) (string, error)
	// Verify returns the run context that the token was issued for, or UNAUTHENTICATED.
	Verify(token string) (RunContext, error)
}

// HarnessKey is a secret that a harness sends as a bearer token.
type HarnessKey struct {
	Name string
	Key  string
}

// authenticator tells callers apart by their bearer token. It keeps only hashes of the keys.
type authenticator struct {
	keys   []hashedKey
	tokens Tokens
}

type hashedKey struct {
	name string
	sum  [sha256.Size]byte
}

func newAuthenticator(keys []HarnessKey, tokens Tokens) *authenticator {
	a := &authenticator{tokens: tokens}
	for _, k := range keys {
		a.keys = append(a.keys, hashedKey{k.Name, sha256.Sum256([]byte(k.Key))})
	}
	return a
}

// Authenticate returns who sent the bearer token, or UNAUTHENTICATED. Keys are compared in constant
// time.
func (a *authenticator) Authenticate(bearer string) (Caller, error) {
	if bearer == "" {
		return Caller{}, fault.New(fault.Unauthenticated)
	}
	sum := sha256.Sum256([]byte(bearer))
	match := -1
	for i, k := range a.keys {
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 {
			match = i
		}
	}
	if match >= 0 {
		return Caller{Harness: a.keys[match].name}, nil
	}
	rc, err := a.tokens.Verify(bearer)
	if err != nil {
		return Caller{}, fault.Wrap(fault.Unauthenticated, err)
	}
	return Caller{Agent: &rc}, nil
}
