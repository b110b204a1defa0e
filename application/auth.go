package application

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Caller is who stands behind a request: a harness, or the agent of one run.
type Caller struct {
	// Harness is the name of the harness key; empty for an agent.
	Harness string
	// Agent is the run context of the agent's token; nil for a harness.
	Agent *RunContext
}

// TokenVerifier checks agent tokens.
type TokenVerifier interface {
	// Verify returns the run context that the token was issued for, or UNAUTHENTICATED.
	Verify(token string) (RunContext, error)
}

// HarnessKey is a secret that a harness sends as a bearer token.
type HarnessKey struct {
	Name string
	Key  string
}

// Authenticator tells callers by their bearer token.
type Authenticator struct {
	keys   []hashedKey
	tokens TokenVerifier
}

type hashedKey struct {
	name string
	sum  [sha256.Size]byte
}

// NewAuthenticator returns an authenticator that keeps only the hashes of the keys.
func NewAuthenticator(keys []HarnessKey, tokens TokenVerifier) *Authenticator {
	a := &Authenticator{tokens: tokens}
	for _, k := range keys {
		a.keys = append(a.keys, hashedKey{k.Name, sha256.Sum256([]byte(k.Key))})
	}
	return a
}

// Authenticate returns the caller, or UNAUTHENTICATED. Keys are compared in constant time.
func (a *Authenticator) Authenticate(bearer string) (Caller, error) {
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

// Service bundles the use cases for inbound adapters.
type Service struct {
	Catalogue *Catalogue
	Boundary  *Boundary
	Runs      *Runs
	Auth      *Authenticator
}

// Invoke resolves the caller's run context and invokes the call in the named run.
func (s *Service) Invoke(ctx context.Context, c Caller, named run.ID, toolCallID, toolName string, request []byte) Result {
	res := s.invoke(ctx, c, named, toolCallID, toolName, request)
	if s.stale(c, named, res.Fault) && !res.Recorded {
		return s.invoke(ctx, c, named, toolCallID, toolName, request)
	}
	return res
}

func (s *Service) invoke(ctx context.Context, c Caller, named run.ID, toolCallID, toolName string, request []byte) Result {
	rc, err := s.context(ctx, c, named)
	if err != nil {
		return s.Boundary.refused(ctx, s.Boundary.clock.Now(), RunContext{RunID: named}, Envelope{RunID: named, ToolCallID: toolCallID, ToolName: toolName, Request: request}, err)
	}
	return s.Boundary.Invoke(ctx, rc, s.Catalogue.Envelope(rc, named, toolCallID, toolName, request))
}

// stale reports whether a harness met RUN_NOT_FOUND with a run context from the cache, which
// may be one of an earlier incarnation; it is dropped then.
func (s *Service) stale(c Caller, named run.ID, f *fault.Error) bool {
	return c.Agent == nil && f != nil && f.Code == fault.RunNotFound && s.Runs.Forget(named)
}

// context returns the run context of the caller: an agent's own, a harness's the named run's.
func (s *Service) context(ctx context.Context, c Caller, named run.ID) (RunContext, error) {
	if c.Agent != nil {
		return *c.Agent, nil
	}
	return s.Runs.Context(ctx, named)
}

// Reject counts a call that an inbound adapter could not even assemble (a body that is not
// JSON, an unknown member) as a refusal of the caller's run, and returns the fault to answer.
func (s *Service) Reject(ctx context.Context, c Caller, named run.ID, toolCallID, toolName string, cause error) error {
	err := s.reject(ctx, c, named, toolCallID, toolName, cause)
	if s.stale(c, named, fault.Of(err)) {
		return s.reject(ctx, c, named, toolCallID, toolName, cause)
	}
	return err
}

func (s *Service) reject(ctx context.Context, c Caller, named run.ID, toolCallID, toolName string, cause error) error {
	rc, err := s.context(ctx, c, named)
	if err != nil {
		return err
	}
	return s.Boundary.Reject(ctx, rc, toolCallID, toolName, cause)
}

// Result returns an earlier call's bounded result to a harness or to the run's own agent.
func (s *Service) Result(ctx context.Context, c Caller, named run.ID, toolCallID string) (Result, error) {
	if c.Agent != nil && c.Agent.RunID != named {
		return Result{}, s.Boundary.Reject(ctx, *c.Agent, toolCallID, "", fault.New(fault.RunMismatch))
	}
	rc, err := s.context(ctx, c, named)
	if err == nil && c.Agent != nil {
		err = s.Runs.Current(ctx, rc)
	}
	if err != nil {
		return Result{}, err
	}
	return s.Runs.Result(ctx, named, toolCallID)
}

// RequireHarness returns FORBIDDEN unless the caller is a harness.
func (c Caller) RequireHarness() error {
	if c.Harness == "" {
		return fault.New(fault.Forbidden)
	}
	return nil
}
