package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// outcome is what an error says of a command that was attempted.
type outcome int

const (
	// refused: certainly not executed, and trying again does not help.
	refused outcome = iota
	// retriable: certainly not executed; it may go through in a moment.
	retriable
	// unknown: it was executed, or not, or is yet to be executed.
	unknown
	// broken: the server executed it and found data that the store did not write.
	broken
)

// retriableReplies and refusedReplies are the first words of replies that a server gives
// instead of executing a command.
var (
	retriableReplies = []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK",
		"BUSY", "NOREPLICAS", "MISCONF", "NOSCRIPT"}
	refusedReplies = []string{"OOM", "NOPERM", "NOAUTH", "WRONGPASS", "DENIED", "NOPROTO", "CROSSSLOT"}
)

// classify returns what an error of one attempt says. An error that it does not know is unknown.
func classify(err error) outcome {
	var reply redis.Error
	var op *net.OpError
	switch {
	case errors.Is(err, redis.ErrPoolTimeout), errors.As(err, &op) && op.Op == "dial":
		return retriable
	case errors.Is(err, redis.ErrClosed):
		return refused
	case errors.As(err, &reply):
		return classifyReply(reply.Error())
	default:
		return unknown
	}
}

func classifyReply(text string) outcome {
	word, _, _ := strings.Cut(text, " ")
	for _, w := range retriableReplies {
		if word == w {
			return retriable
		}
	}
	for _, w := range refusedReplies {
		if word == w {
			return refused
		}
	}
	switch {
	case word == "WRONGTYPE", strings.Contains(text, "user_script"):
		return broken
	case strings.HasPrefix(text, "ERR max number of clients"):
		return retriable
	case word == "ERR":
		return refused
	default:
		return unknown
	}
}

// ErrNotExecuted is among the causes of a fault when the operation has certainly changed nothing and
// never will. Without it the outcome of an unanswered operation is unknown.
var ErrNotExecuted = errors.New("not executed")

// failure returns the fault of an operation that was not answered. unsure says that one of its attempts
// may have been executed.
func failure(err error, unsure bool) error {
	if classify(err) == broken {
		return fault.Wrap(fault.Internal, err)
	}
	if !unsure {
		err = fmt.Errorf("%w: %w", ErrNotExecuted, err)
	}
	return fault.Wrap(fault.StoreUnavailable, err)
}

// errReply says that a reply does not have the form that its script gives it.
var errReply = errors.New("a reply of an unknown form")

// errUnanswered says that an operation's time was over before its first attempt.
var errUnanswered = errors.New("no time was left for an attempt")

// isDone reports whether the caller's time is over.
func isDone(ctx context.Context) bool { return ctx.Err() != nil }
