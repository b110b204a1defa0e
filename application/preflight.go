package application

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// preflight makes every check that needs no I/O and returns the tool and its plan. The order of
// the checks decides which of several faults is reported.
//
// Whether the run may use the tool is decided here and nowhere else: from the run context's grants
// and the tool's own description. No payload has a member for it (S04). The data sources that were
// granted go to the executor as a scope, since only it can read which one a request names.
func preflight(
	c *Catalogue, rc RunContext, call Call, limit limits.RequestBytes,
) (entry catalogued, plan tool.Plan, err error) {
	if err := invocation.CheckToolCallID(call.ToolCallID); err != nil {
		return entry, plan, err
	}
	if call.RunID != rc.RunID {
		return entry, plan, fault.New(fault.RunMismatch)
	}
	entry, found := c.entries[call.ToolName]
	if !found {
		return entry, plan, fault.New(fault.ToolUnknown)
	}
	if !slices.Contains(rc.Grants.Tools, call.ToolName) {
		return entry, plan, fault.New(fault.ToolNotAuthorized)
	}
	if !entry.about.ReadOnly {
		return entry, plan, fault.New(fault.ToolNotReadOnly)
	}
	if err := limits.Check(len(call.Request), limit, fault.RequestTooLarge); err != nil {
		return entry, plan, err
	}
	if err := checkObject(call.Request); err != nil {
		return entry, plan, err
	}
	plan, err = prepare(entry, call.Request, tool.Scope{DataSources: rc.Grants.DataSources})
	return entry, plan, err
}

// prepare calls the executor's Prepare; a panic is an INTERNAL refusal.
func prepare(entry catalogued, request json.RawMessage, scope tool.Scope) (plan tool.Plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			plan, err = tool.Plan{}, fault.Wrap(fault.Internal, panicked{p})
		}
	}()
	plan, err = entry.Executor.Prepare(request, scope)
	if err != nil {
		return tool.Plan{}, fault.Of(err)
	}
	return plan, nil
}

// checkObject returns REQUEST_INVALID unless the bytes are exactly one JSON object in valid
// UTF-8, without duplicate member names at any level, nested at most limits.MaxDepth deep (S03).
func checkObject(request []byte) error {
	if kind := jsontext.Value(request).Kind(); kind != '{' {
		return fault.Because(fault.RequestInvalid, "NOT_AN_OBJECT", "the request must be one JSON object")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(request))
	for {
		_, err := dec.ReadToken()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return invalidAt(dec, "DUPLICATE_MEMBER", "duplicate member name")
		case err != nil:
			return invalidAt(dec, "JSON", "the request is not valid JSON in UTF-8")
		case dec.StackDepth() > limits.MaxDepth:
			return invalidAt(dec, "NESTING", fmt.Sprintf("the request nests deeper than %d levels", limits.MaxDepth))
		case dec.StackDepth() == 0 && len(bytes.TrimLeft(request[dec.InputOffset():], " \t\r\n")) > 0:
			return invalidAt(dec, "TRAILING_DATA", "something follows the request's object")
		}
	}
}

func invalidAt(dec *jsontext.Decoder, reason, sentence string) error {
	return fault.Because(fault.RequestInvalid, reason, fmt.Sprintf("%s, at byte %d", sentence, dec.InputOffset()))
}
