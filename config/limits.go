package config

import (
	"github.com/toolboundary/toolboundary/config/strictyaml"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// Limits are the byte limits of a tool call.
type Limits struct {
	Request ByteSize `yaml:"request" min:"1B" max:"16MiB" doc:"Most bytes of a request."`
	Raw     ByteSize `yaml:"raw" min:"1B" max:"256MiB" doc:"Most bytes of a tool's raw response."`
	// Record limits a stored record, which contains a request, a raw response and an agent result.
	Record      ByteSize `yaml:"record" min:"1B" max:"512MiB"`
	AgentResult ByteSize `yaml:"agent_result" min:"1B" max:"16MiB" doc:"Most bytes of what the agent receives."`
}

// Tags implements strictyaml.Tagger.
func (Limits) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"record": `doc:"Most bytes of a stored record; the other limits must fit in it."`,
	}
}

// Domain returns the limits in the domain's terms.
func (l Limits) Domain() limits.Limits {
	return limits.Limits{
		Request: limits.RequestBytes(l.Request), Raw: limits.RawBytes(l.Raw),
		Record: limits.RecordBytes(l.Record), AgentResult: limits.AgentBytes(l.AgentResult),
	}
}

func (l Limits) validate(at Place) {
	parts := []struct {
		name string
		size ByteSize
	}{{"request", l.Request}, {"raw", l.Raw}, {"agent_result", l.AgentResult}}
	fits := true
	for _, p := range parts {
		if p.size > l.Record {
			fits = false
			at.Key(p.name).Problem("The limit is larger than limits.record, which contains it.",
				"Lower it, or raise limits.record.")
		}
	}
	if fits && l.Request+l.Raw+l.AgentResult > l.Record {
		at.Key("record").Warn("A request, raw response and agent result at their limits do not fit in one record.",
			"Raise limits.record above the sum of the others.")
	}
}
