package fake

import (
	"encoding/json"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/toolboundary/toolboundary/domain/fault"
)

// Action is what an execution does.
type Action string

// The actions. Those after Flood break the port's promises.
const (
	// Answer returns the request's answer (null without one), streamed through the raw
	// limit. It is the default.
	Answer Action = "answer"
	// Fail returns the fault of the request's code and reason.
	Fail Action = "fail"
	// Block waits until the context ends and returns its fault.
	Block Action = "block"
	// Hold waits for Release, then answers; it returns the context's fault when that ends first.
	Hold Action = "hold"
	// Flood streams a JSON string of the request's bytes, quotes included, through the raw limit.
	Flood Action = "flood"
	// Leak returns an error that is not a fault, with the request's text.
	Leak Action = "leak"
	// Panic panics with the request's text.
	Panic Action = "panic"
	// Deaf waits for Release whatever the context says, then answers.
	Deaf Action = "deaf"
	// Oversize returns a JSON string of the request's bytes whatever the raw limit says.
	Oversize Action = "oversize"
	// Garbage returns the request's text as it is, which need not be JSON.
	Garbage Action = "garbage"
)

// Script is the fake tool's request. Every member is optional; others are refused.
type Script struct {
	// DataSource is checked against the scope.
	DataSource string `json:"data_source,omitempty"`
	// Do is what the execution does.
	Do Action `json:"do,omitempty"`
	// Answer is the raw answer, returned byte for byte.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Code and Reason make the fault of Fail.
	Code   fault.Code `json:"code,omitempty"`
	Reason string     `json:"reason,omitempty"`
	// Text is what Leak, Panic and Garbage say.
	Text string `json:"text,omitempty"`
	// Bytes is the size of the answer of Flood and Oversize.
	Bytes int `json:"bytes,omitempty"`
	// Refuse makes Prepare refuse the request.
	Refuse *Refusal `json:"refuse,omitempty"`
	// PreparePanic makes Prepare panic with this text.
	PreparePanic string `json:"prepare_panic,omitempty"`
}

// Refusal is what Prepare says of a request that it refuses.
type Refusal struct {
	Code   fault.Code `json:"code"`
	Reason string     `json:"reason,omitempty"`
	Detail string     `json:"detail,omitempty"`
}

// JSON returns the script as a request.
func (s Script) JSON() json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // an Answer that is not JSON: a mistake in the test
	}
	return b
}

func decodeScript(request json.RawMessage) (Script, error) {
	s := Script{Do: Answer, Answer: json.RawMessage("null")}
	if err := jsonv2.Unmarshal(request, &s, jsonv2.RejectUnknownMembers(true)); err != nil {
		return s, fault.Because(fault.RequestInvalid, "SCRIPT",
			"the request is not a script of the fake tool").WithCause(err)
	}
	s.Answer = slices.Clone(s.Answer)
	switch s.Do {
	case Answer, Fail, Block, Hold, Flood, Leak, Panic, Deaf, Oversize, Garbage:
	default:
		return s, fault.Because(fault.RequestInvalid, "SCRIPT", "the fake tool does not know this action")
	}
	if s.Do == Fail && !s.Code.Known() {
		return s, fault.Because(fault.RequestInvalid, "SCRIPT", "fail needs a code of the list")
	}
	return s, nil
}
