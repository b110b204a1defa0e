package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// overview is the service's answer about a run, as far as it is shown.
type overview struct {
	Run         runView      `json:"run"`
	Invocations []invocation `json:"invocations"`
	Refusals    []refusal    `json:"refusals"`
}

type runView struct {
	RunID       string    `json:"run_id"`
	State       string    `json:"state"`
	CreatedAt   time.Time `json:"created_at"`
	Deadline    time.Time `json:"deadline"`
	Tools       []string  `json:"tools"`
	DataSources []string  `json:"data_sources"`
	Budget      budget    `json:"budget"`
	Usage       usage     `json:"usage"`
}

type budget struct {
	MaxCalls        int64            `json:"max_calls"`
	MaxCallsPerTool map[string]int64 `json:"max_calls_per_tool,omitempty"`
	MaxBytes        int64            `json:"max_bytes"`
	MaxRefusals     int64            `json:"max_refusals"`
}

type usage struct {
	Calls        int64            `json:"calls"`
	CallsPerTool map[string]int64 `json:"calls_per_tool,omitempty"`
	Bytes        int64            `json:"bytes"`
	Refusals     int64            `json:"refusals"`
}

type invocation struct {
	ToolCallID     string    `json:"tool_call_id"`
	ToolName       string    `json:"tool_name"`
	Status         string    `json:"status"`
	EvidenceStatus string    `json:"evidence_status"`
	ErrorCode      string    `json:"error_code"`
	ErrorReason    string    `json:"error_reason"`
	StartedAt      time.Time `json:"started_at"`
	CompletedAt    time.Time `json:"completed_at"`
	Sizes          sizes     `json:"sizes"`
}

type sizes struct {
	Request     int64 `json:"request"`
	RawResponse int64 `json:"raw_response"`
	AgentResult int64 `json:"agent_result"`
}

type refusal struct {
	At         time.Time `json:"at"`
	ToolCallID string    `json:"tool_call_id"`
	ToolName   string    `json:"tool_name"`
	Code       string    `json:"code"`
	Reason     string    `json:"reason"`
	Detail     string    `json:"detail"`
}

// over reports whether nothing more will happen in the run, by this machine's clock.
func (o overview) over(now time.Time) bool {
	return o.Run.State != "ACTIVE" || !now.Before(o.Run.Deadline)
}

// left says how much time the run has, by this machine's clock.
func (v runView) left(now time.Time) string {
	at := v.Deadline.UTC().Format(time.RFC3339)
	if left := v.Deadline.Sub(now); left > 0 {
		return at + " (in " + span(left) + ")"
	}
	return at + " (passed)"
}

func count(used, most int64) string {
	return strconv.FormatInt(used, 10) + "/" + strconv.FormatInt(most, 10)
}

func bytesOf(used, most int64) string { return size(used) + "/" + size(most) }

// print writes the run for people, or the service's own answer.
func (o overview) print(w io.Writer, body json.RawMessage, asJSON bool, now time.Time) error {
	if asJSON {
		_, err := fmt.Fprintf(w, "%s\n", strings.TrimSpace(string(body)))
		return err
	}
	v := o.Run
	var b strings.Builder
	for _, line := range [][2]string{
		{"run", v.RunID}, {"state", v.State}, {"opened", v.CreatedAt.UTC().Format(time.RFC3339)}, {"deadline", v.left(now)},
		{"tools", strings.Join(v.Tools, ", ")}, {"data sources", strings.Join(v.DataSources, ", ")},
		{"calls", count(v.Usage.Calls, v.Budget.MaxCalls) + v.perTool()}, {"bytes", bytesOf(v.Usage.Bytes, v.Budget.MaxBytes)},
		{"refusals", count(v.Usage.Refusals, v.Budget.MaxRefusals)},
	} {
		fmt.Fprintf(&b, "%-14s%s\n", line[0], safe(line[1]))
	}
	if _, err := io.WriteString(w, b.String()+"\n"); err != nil {
		return err
	}
	if err := o.calls(w, now); err != nil {
		return err
	}
	return o.refused(w)
}

func (v runView) perTool() string {
	var parts []string
	tools := map[string]bool{}
	for name := range v.Usage.CallsPerTool {
		tools[name] = true
	}
	for name := range v.Budget.MaxCallsPerTool {
		tools[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		part := name + " " + strconv.FormatInt(v.Usage.CallsPerTool[name], 10)
		if most, bounded := v.Budget.MaxCallsPerTool[name]; bounded {
			part += "/" + strconv.FormatInt(most, 10)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (o overview) calls(w io.Writer, now time.Time) error {
	if len(o.Invocations) == 0 {
		_, err := fmt.Fprintln(w, "no calls")
		return err
	}
	rows := make([][]string, len(o.Invocations))
	for i, c := range o.Invocations {
		took := "running for " + span(now.Sub(c.StartedAt))
		if !c.CompletedAt.IsZero() {
			took = span(c.CompletedAt.Sub(c.StartedAt))
		}
		if c.StartedAt.IsZero() {
			took = ""
		}
		rows[i] = []string{c.ToolCallID, c.ToolName, c.Status, c.EvidenceStatus, took, size(c.Sizes.Request), size(c.Sizes.RawResponse), size(c.Sizes.AgentResult), strings.TrimSpace(c.ErrorCode + " " + c.ErrorReason)}
	}
	return table(w, []string{"call", "tool", "status", "evidence", "took", "request", "raw", "result", "error"}, rows)
}

func (o overview) refused(w io.Writer) error {
	if len(o.Refusals) == 0 {
		_, err := fmt.Fprintln(w, "no refusals")
		return err
	}
	if _, err := fmt.Fprintln(w, "\nrefusals"); err != nil {
		return err
	}
	rows := make([][]string, len(o.Refusals))
	for i, f := range o.Refusals {
		rows[i] = []string{f.At.UTC().Format("15:04:05"), f.ToolCallID, f.ToolName, strings.TrimSpace(f.Code + " " + f.Reason), f.Detail}
	}
	return table(w, []string{"at", "call", "tool", "code", "detail"}, rows)
}
