package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolboundary/toolboundary/domain/invocation"
)

type recordCmd struct {
	Show recordShowCmd `cmd:"" help:"Request, raw and bounded result of one call, side by side."`
}

type recordShowCmd struct {
	RunID      string `arg:"" name:"run" help:"Id of the run."`
	ToolCallID string `arg:"" name:"tool-call-id" help:"Id of the tool call."`
	serviceFlags
	Width int `default:"0" help:"Width of the output in columns; $COLUMNS or 120 when 0."`
}

func (c *recordShowCmd) Help() string {
	return "The raw response is what the data source answered, with sensitive columns: only a harness may see it. " +
		"--output json prints the record byte for byte.\n\n" +
		"Example: toolboundary record show run-42 call_1"
}

// record is a canonical record, as far as it is shown.
type record struct {
	Status         string           `json:"status"`
	RunID          string           `json:"run_id"`
	ToolCallID     string           `json:"tool_call_id"`
	ToolName       string           `json:"tool_name"`
	EvidenceStatus string           `json:"evidence_status"`
	ErrorCode      string           `json:"error_code"`
	ErrorReason    string           `json:"error_reason"`
	ErrorDetail    string           `json:"error_detail"`
	StartedAt      *time.Time       `json:"started_at"`
	CompletedAt    *time.Time       `json:"completed_at"`
	Sizes          invocation.Sizes `json:"sizes"`
	Request        json.RawMessage  `json:"request"`
	RawResponse    json.RawMessage  `json:"raw_response"`
	AgentResult    json.RawMessage  `json:"agent_result"`
}

func (c *recordShowCmd) Run(e *env) error {
	body, err := e.do.Record(e.ctx, c.at(), c.RunID, c.ToolCallID)
	if err != nil {
		return err
	}
	if c.json() {
		_, err = fmt.Fprintf(e.Out, "%s\n", body)
		return err
	}
	var rec record
	if json.Unmarshal(body, &rec) != nil {
		return errAnswer
	}
	return rec.print(e.Out, c.columns())
}

// columns is the width of the output.
func (c *recordShowCmd) columns() int {
	width := c.Width
	if width <= 0 {
		width, _ = strconv.Atoi(os.Getenv("COLUMNS"))
	}
	if width <= 0 {
		width = 120
	}
	return min(max(width, 60), 400)
}

func (rec record) print(w io.Writer, width int) error {
	head := [][2]string{
		{"record", rec.RunID + " " + rec.ToolCallID}, {"tool", rec.ToolName},
		{"status", strings.TrimSpace(rec.Status + " " + rec.EvidenceStatus)},
		{"error", strings.Join(strings.Fields(rec.ErrorCode+" "+rec.ErrorReason), " ")}, {"detail", rec.ErrorDetail},
		{"started", stamp(rec.StartedAt)}, {"completed", stamp(rec.CompletedAt)},
	}
	var b strings.Builder
	for _, line := range head {
		if line[1] != "" {
			fmt.Fprintf(&b, "%-14s%s\n", line[0], safe(line[1]))
		}
	}
	b.WriteString("\n")
	const gap = " │ "
	each := (width - 2*utf8.RuneCountInString(gap)) / 3
	panes := [3][]string{
		pane("request, "+size(rec.Sizes.Request), rec.Request, each),
		pane("raw, "+size(rec.Sizes.RawResponse), rec.RawResponse, each),
		pane("agent result, "+size(rec.Sizes.AgentResult), rec.AgentResult, each),
	}
	for y := range max(len(panes[0]), len(panes[1]), len(panes[2])) {
		var cells [3]string
		for x, p := range panes {
			line := ""
			if y < len(p) {
				line = p[y]
			}
			cells[x] = line + strings.Repeat(" ", each-utf8.RuneCountInString(line))
		}
		b.WriteString(strings.TrimRight(strings.Join(cells[:], gap), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// maxPane bounds the lines of one body; the JSON output has all of it.
const maxPane = 500

// pane formats a JSON body in lines of at most width columns, under a title and a rule.
func pane(title string, body json.RawMessage, width int) []string {
	out := append(wrap(title, width), strings.Repeat("─", width))
	if len(body) == 0 || string(body) == "null" {
		return append(out, "(none)")
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", " ") != nil {
		pretty.Reset()
		pretty.Write(body)
	}
	for line := range strings.Lines(pretty.String()) {
		out = append(out, wrap(safe(strings.TrimSuffix(line, "\n")), width)...)
		if len(out) > maxPane {
			return append(out[:maxPane], "… (more: --output json)"[:min(width, 24)])
		}
	}
	return out
}

func wrap(line string, width int) []string {
	var out []string
	runes := []rune(line)
	for len(runes) > width {
		out = append(out, string(runes[:width]))
		runes = runes[width:]
	}
	return append(out, string(runes))
}
