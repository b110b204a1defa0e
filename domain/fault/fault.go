// Package fault holds the closed list of codes and the one error type that is safe to show.
//
// An Error's text is its code and a fixed sentence. The cause stays behind Unwrap, for logs
// at debug level; it never reaches a caller, a record or an info log line.
package fault

import (
	"context"
	"errors"
)

// Error is a refusal or a failure that may be shown to an agent, a harness and an operator.
type Error struct {
	// Code is one of the constants of this package.
	Code Code
	// Reason is a finer class within the code, such as UNKNOWN_COLUMN; empty when there is none.
	Reason string
	// Detail is one short sentence with the caller's own identifiers, never a hidden name.
	Detail string

	cause error
}

// New returns the fault with this code and no cause.
func New(code Code) *Error { return &Error{Code: code} }

// Wrap returns the fault with this code; the cause is reachable by errors.Unwrap only.
func Wrap(code Code, cause error) *Error { return &Error{Code: code, cause: cause} }

// Because returns the fault with this code, a reason class and a detail that is safe to show.
func Because(code Code, reason, detail string) *Error {
	return &Error{Code: code, Reason: reason, Detail: detail}
}

// WithCause returns a copy that carries the cause for logs.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns the code and its fixed sentence, nothing else.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Code.Sentence() }

// Unwrap returns the cause, which is not safe to show.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether the target is a fault with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Of classifies any error: a fault stays itself, the context's errors become
// EXECUTION_TIMEOUT and EXECUTION_CANCELLED, everything else is INTERNAL. Of(nil) is nil.
func Of(err error) *Error {
	var f *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(ExecutionTimeout, err)
	case errors.Is(err, context.Canceled):
		return Wrap(ExecutionCancelled, err)
	default:
		return Wrap(Internal, err)
	}
}

// CodeOf returns the code of Of(err), and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}
