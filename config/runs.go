package config

import (
	"maps"
	"slices"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
	"github.com/toolboundary/toolboundary/domain/run"
)

// Runs are defaults of what a harness leaves out, and ceilings of what it may ask for.
type Runs struct {
	RecordTTL time.Duration `yaml:"record_ttl" min:"1s" max:"8784h" doc:"How long a record is kept, from its creation."`
	MaxTTL    time.Duration `yaml:"max_ttl" min:"1s" max:"720h"`
	Budget    Budget        `yaml:"budget" doc:"What a run may spend."`
}

// Tags implements strictyaml.Tagger.
func (Runs) Tags() strictyaml.Tags {
	return strictyaml.Tags{"max_ttl": `doc:"Longest life of a run, and its life when the harness names none."`}
}

// Budget is what a run may spend.
type Budget struct {
	MaxCalls        int64            `yaml:"max_calls" min:"1" max:"100000" doc:"Most tool calls."`
	MaxCallsPerTool map[string]int64 `yaml:"max_calls_per_tool" min:"0" max:"100000"`
	MaxBytes        ByteSize         `yaml:"max_bytes" min:"1B" max:"1TiB"`
	MaxRefusals     int64            `yaml:"max_refusals" min:"0" max:"100000" doc:"How many refusals are explained."`
}

const (
	toolForm     = `^[a-z][a-z0-9_]{0,63}$`
	toolFormText = `form:"a tool's name, such as mysql_query"`
)

// Tags implements strictyaml.Tagger.
func (Budget) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"max_calls_per_tool": `keys:"` + toolForm + `" ` + toolFormText +
			` doc:"Most calls of single tools, by name; max_calls applies to all of them together."`,
		"max_bytes": `doc:"Most bytes of requests, raw responses and agent results together."`,
	}
}

// Domain returns the budget in the domain's terms.
func (b Budget) Domain() run.Budget {
	return run.Budget{
		MaxCalls: b.MaxCalls, MaxCallsPerTool: b.MaxCallsPerTool, MaxBytes: int64(b.MaxBytes),
		MaxRefusals: b.MaxRefusals,
	}
}

func (r Runs) validate(at Place, l Limits) {
	if r.RecordTTL < r.MaxTTL {
		at.Key("record_ttl").Warn("Records may expire before their run ends, and can then no longer be cited.",
			"Raise record_ttl to at least max_ttl.")
	}
	r.Budget.validate(at.Key("budget"), l)
}

func (b Budget) validate(at Place, l Limits) {
	if b.MaxBytes < l.Request+l.Raw {
		at.Key("max_bytes").Warn("One call with a full response uses up more than the whole budget.",
			"Raise max_bytes, or lower limits.raw.")
	}
	for _, name := range slices.Sorted(maps.Keys(b.MaxCallsPerTool)) {
		if b.MaxCallsPerTool[name] > b.MaxCalls {
			at.Key("max_calls_per_tool").Key(name).Warn("The number is above max_calls, so it has no effect.",
				"Lower it, or raise max_calls.")
		}
	}
}
