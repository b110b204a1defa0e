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

	"github.com/toolboundary/toolboundary/domain/invocation"
	"github.com/toolboundary/toolboundary/domain/run"
)

// overview is the service's answer about a run, as far as it is shown.
type overview struct {
	Run         runView       `json:"run"`
	Invocations []call        `json:"invocations"`
	Refusals    []run.Refusal `json:"refusals"`
}

type runView struct {
	RunID     string    `json:"run_id"`
	State     run.State `json:"state"`
	CreatedAt time.Time `json:"created_at"`
	Deadline  time.Time `json:"deadline"`
	run.Grants
	Budget run.Budget `json:"budget"`
	Usage  run.Usage  `json:"usage"`
}

type call struct {
	ToolCallID     string           `json:"tool_call_id"`
	ToolName       string           `json:"tool_name"`
	Status         string           `json:"status"`
	EvidenceStatus string           `json:"evidence_status"`
	ErrorCode      string           `json:"error_code"`
	ErrorReason    string           `json:"error_reason"`
	StartedAt      time.Time        `json:"started_at"`
	CompletedAt    time.Time        `json:"completed_at"`
	Sizes          invocation.Sizes `json:"sizes"`
}

// over reports whether nothing more will happen in the run, by this machine's clock.
func (o overview) over(now time.Time) bool {
	return o.Run.State != run.Active || !now.Before(o.Run.Deadline)
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
		{"run", v.RunID}, {"state", string(v.State)},
		{"opened", v.CreatedAt.UTC().Format(time.RFC3339)}, {"deadline", v.left(now)},
		{"tools", strings.Join(v.Tools, ", ")}, {"data sources", strings.Join(v.DataSources, ", ")},
		{"calls", count(v.Usage.Calls, v.Budget.MaxCalls) + v.perTool()},
		{"bytes", bytesOf(v.Usage.Bytes, v.Budget.MaxBytes)},
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
		rows[i] = []string{
			c.ToolCallID, c.ToolName, c.Status, c.EvidenceStatus, took,
			size(c.Sizes.Request), size(c.Sizes.RawResponse), size(c.Sizes.AgentResult),
			strings.TrimSpace(c.ErrorCode + " " + c.ErrorReason),
		}
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
		code := strings.TrimSpace(string(f.Code) + " " + f.Reason)
		rows[i] = []string{f.At.UTC().Format("15:04:05"), f.ToolCallID, f.ToolName, code, f.Detail}
	}
	return table(w, []string{"at", "call", "tool", "code", "detail"}, rows)
}
