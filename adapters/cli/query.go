package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// QueryArgs are the arguments of query.
type QueryArgs struct {
	SQL string
	// Params are JSON scalars, one for each placeholder.
	Params []json.RawMessage
	// ConfigPath and DataSource name an allowlist that applies, too; both are set or neither.
	ConfigPath, DataSource string
	MaxRows                int
	Timeout                time.Duration
}

// Page is a bounded answer of rows.
type Page struct {
	Columns     []string            `json:"columns"`
	Rows        [][]json.RawMessage `json:"rows"`
	Returned    int                 `json:"returned"`
	Truncated   bool                `json:"truncated"`
	TruncatedBy []string            `json:"truncated_by,omitempty"`
}

type queryCmd struct {
	SQL        string        `arg:"" name:"sql" help:"The statement; - reads it from standard input."`
	Params     []string      `arg:"" optional:"" help:"Values of the ? placeholders: JSON scalars; anything else is text."`
	Path       string        `name:"config" short:"c" placeholder:"FILE" help:"Configuration file (YAML) with an allowlist to apply, too."`
	DataSource string        `placeholder:"ID" help:"Data source whose allowlist applies."`
	MaxRows    int           `default:"200" help:"Most rows that are read and shown: 1 to 100000."`
	Timeout    time.Duration `default:"5s" help:"Time limit, on the server too: 10ms to 10m."`
	Output     string        `short:"o" enum:"text,table,json,csv" default:"table" help:"Output format: table (or text), json or csv."`
}

func (c *queryCmd) Help() string {
	return "The connection comes from the environment only: TOOLBOUNDARY_QUERY_HOST, _PORT (3306), _USER, _PASSWORD or " +
		"_PASSWORD_FILE, _SCHEMA, _TLS (true, required, false; true unless the host is this machine) and _CA_FILE. " +
		"Host, user and password have no default.\n\n" +
		"Anything but one plain SELECT is rejected before a connection is opened. The statement runs in a read-only " +
		"transaction that is rolled back. With --config and --data-source the statement must also pass that " +
		"allowlist, and " +
		"sensitive columns are redacted.\n\n" +
		"Example: toolboundary query \"SELECT id, status FROM orders WHERE total > ? LIMIT 5\" 100"
}

// maxStatementText bounds what is read from standard input; the guard's limit is lower.
const maxStatementText = 1 << 20

func (c *queryCmd) Run(e *env) error {
	switch {
	case c.MaxRows < 1 || c.MaxRows > 100_000:
		return UsageError{errors.New("--max-rows must be from 1 to 100000")}
	case c.Timeout < 10*time.Millisecond || c.Timeout > 10*time.Minute:
		return UsageError{errors.New("--timeout must be from 10ms to 10m")}
	case (c.Path == "") != (c.DataSource == ""):
		return UsageError{errors.New("--config and --data-source belong together")}
	}
	args := QueryArgs{SQL: c.SQL, ConfigPath: c.Path, DataSource: c.DataSource, MaxRows: c.MaxRows, Timeout: c.Timeout}
	if c.SQL == "-" {
		text, err := io.ReadAll(io.LimitReader(e.In, maxStatementText))
		if err != nil {
			return fmt.Errorf("the statement cannot be read: %w", err)
		}
		args.SQL = string(text)
	}
	for _, p := range c.Params {
		args.Params = append(args.Params, parameter(p))
	}
	page, err := e.do.Query(e.ctx, args)
	if err != nil {
		return err
	}
	switch c.Output {
	case "json":
		return writeJSON(e.Out, page)
	case "csv":
		err = page.csv(e.Out)
	default:
		err = page.table(e.Out)
	}
	if page.Truncated {
		fmt.Fprintf(e.Err, "toolboundary: the result is cut by %s\n", strings.Join(page.TruncatedBy, ", "))
	}
	return err
}

// parameter reads an argument as a JSON scalar, or else as text.
func parameter(text string) json.RawMessage {
	if json.Valid([]byte(text)) && !strings.ContainsAny(text[:1], "{[") {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string always encodes
	return quoted
}

func (p Page) table(w io.Writer) error {
	rows := make([][]string, len(p.Rows))
	for y, row := range p.Rows {
		rows[y] = make([]string, len(row))
		for x, cell := range row {
			text, null := cellText(cell)
			if null {
				text = "NULL"
			}
			rows[y][x] = text
		}
	}
	if err := table(w, p.Columns, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d row(s)\n", p.Returned)
	return err
}

// csv writes RFC 4180 with a line of headings. NULL is an empty field, empty text is "".
func (p Page) csv(w io.Writer) error {
	var b strings.Builder
	for x, name := range p.Columns {
		csvField(&b, x, name, false)
	}
	b.WriteString("\r\n")
	for _, row := range p.Rows {
		for x, cell := range row {
			text, null := cellText(cell)
			csvField(&b, x, text, null)
		}
		b.WriteString("\r\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func csvField(b *strings.Builder, index int, text string, null bool) {
	if index > 0 {
		b.WriteByte(',')
	}
	switch {
	case null:
	case text == "" || strings.ContainsAny(text, "\",\r\n") || strings.TrimSpace(text) != text:
		b.WriteString(`"` + strings.ReplaceAll(text, `"`, `""`) + `"`)
	default:
		b.WriteString(text)
	}
}

// cellText returns a JSON value as people read it: strings without quotes, the rest as it is.
func cellText(cell json.RawMessage) (text string, null bool) {
	if string(cell) == "null" {
		return "", true
	}
	if json.Unmarshal(cell, &text) == nil {
		return text, false
	}
	return string(cell), false
}
