package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// SourceArgs name a data source and, when UserEnv is set, an account to use instead of its own.
type SourceArgs struct {
	ConfigPath, DataSource string
	// UserEnv and PasswordEnv name the environment variables of another account.
	UserEnv, PasswordEnv string
}

// InitArgs are the arguments of allowlist init.
type InitArgs struct {
	SourceArgs
	Schemas []string
	Views   bool
}

// GrantsArgs are the arguments of allowlist grants.
type GrantsArgs struct {
	ConfigPath, DataSource string
	Account, Host          string
	RequireTLS             bool
}

// Drifts are what allowlist check found.
type Drifts struct {
	Drifts []Drift `json:"drifts"`
	// Tables is how many allowlisted tables were compared.
	Tables   int `json:"tables"`
	Unlisted int `json:"unlisted_tables"`
	// Notes say what could not be seen.
	Notes []string `json:"notes"`
}

// Drift is one difference between an allowlist and its database.
type Drift struct {
	Kind    string `json:"kind"`
	Where   string `json:"where"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

type allowlistCmd struct {
	Init   allowlistInitCmd   `cmd:"" help:"Draft an allowlist from the database's schema."`
	Check  allowlistCheckCmd  `cmd:"" help:"Find where the allowlist and the database differ."`
	Grants allowlistGrantsCmd `cmd:"" help:"Print the allowlist as an account's privileges."`
}

type sourceFlags struct {
	configFlag
	DataSource  string `required:"" placeholder:"ID" help:"The data source."`
	UserEnv     string `placeholder:"NAME" help:"Environment variable with the name of another account, one that sees the whole schema."`
	PasswordEnv string `placeholder:"NAME" help:"Environment variable with its password."`
}

func (f sourceFlags) args() (SourceArgs, error) {
	if (f.UserEnv == "") != (f.PasswordEnv == "") {
		return SourceArgs{}, UsageError{errors.New("--user-env and --password-env belong together")}
	}
	return SourceArgs{f.Path, f.DataSource, f.UserEnv, f.PasswordEnv}, nil
}

type allowlistInitCmd struct {
	sourceFlags
	Schema []string `placeholder:"NAME" help:"Schemas to draft; all but the server's own when absent."`
	Views  bool     `help:"Turn views on; they read with their definers' rights."`
	Output string   `short:"o" enum:"text,json" default:"text" help:"Output format: text (YAML), or json with the YAML as a string."`
}

func (c *allowlistInitCmd) Help() string {
	return "Writes YAML for the section below the data source's id: tables and columns with types and comments. " +
		"Columns that look sensitive (passwords, tokens, addresses, cards, birth dates …), tables of secrets and " +
		"views are " +
		"left out until somebody moves them. Appending works when the data source is the last thing in the file.\n\n" +
		"Example: toolboundary allowlist init --config toolboundary.yaml --data-source shop " +
		"--user-env ADMIN_USER --password-env ADMIN_PASSWORD >> toolboundary.yaml"
}

func (c *allowlistInitCmd) Run(e *env) error {
	args, err := c.args()
	if err != nil {
		return err
	}
	text, err := e.do.AllowlistInit(e.ctx, InitArgs{args, c.Schema, c.Views})
	return printText(e.Out, c.Output, "yaml", text, err)
}

type allowlistCheckCmd struct {
	sourceFlags
	outputFlag
}

func (c *allowlistCheckCmd) Help() string {
	return "Reads the information schema, and no row. Reports what is gone, spelled differently, new, a view, of " +
		"another type, " +
		"or not granted. Exits with 1 when there is drift. An account with column privileges does not see new columns: " +
		"name another one with --user-env and --password-env to find these.\n\n" +
		"Example: toolboundary allowlist check --config toolboundary.yaml --data-source shop --output json"
}

func (c *allowlistCheckCmd) Run(e *env) error {
	args, err := c.args()
	if err != nil {
		return err
	}
	found, err := e.do.AllowlistCheck(e.ctx, args)
	if err != nil {
		return err
	}
	if c.json() {
		err = writeJSON(e.Out, found)
	} else {
		err = found.print(e.Out)
	}
	if err == nil && len(found.Drifts) > 0 {
		return ErrReported
	}
	return err
}

func (d Drifts) print(w io.Writer) error {
	var b strings.Builder
	for _, one := range d.Drifts {
		fmt.Fprintf(&b, "%-14s %s: %s\n    fix: %s\n", one.Kind, safe(one.Where), safe(one.Message), safe(one.Fix))
	}
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", safe(note))
	}
	fmt.Fprintf(&b, "%d table(s) compared, %d difference(s); %d other table(s) in the same schemas are not readable\n",
		d.Tables, len(d.Drifts), d.Unlisted)
	_, err := io.WriteString(w, b.String())
	return err
}

type allowlistGrantsCmd struct {
	configFlag
	DataSource string `required:"" placeholder:"ID" help:"The data source."`
	Account    string `placeholder:"NAME" help:"Name of the account; toolboundary_ID when absent."`
	Host       string `default:"%" help:"Host part of the account."`
	RequireTLS bool   `help:"Refuse logins of the account over connections that are not encrypted."`
	Output     string `short:"o" enum:"text,json" default:"text" help:"Output format: text (SQL), or json with the SQL as a string."`
}

func (c *allowlistGrantsCmd) Help() string {
	return "Connects to nothing. The statements are for MySQL 8 and MariaDB, can be repeated, and leave the account " +
		"with " +
		"SELECT on the listed columns and nothing else. " +
		"The password comes from the session variable @password and is written to no file.\n\n" +
		"Example: (echo \"SET @password = '$SHOP_PASSWORD';\"; " +
		"toolboundary allowlist grants --config toolboundary.yaml --data-source shop) | mariadb --user=root"
}

func (c *allowlistGrantsCmd) Run(e *env) error {
	text, err := e.do.AllowlistGrants(e.ctx, GrantsArgs{c.Path, c.DataSource, c.Account, c.Host, c.RequireTLS})
	return printText(e.Out, c.Output, "sql", text, err)
}

// printText prints text as it is, or as the one member of a JSON object.
func printText(w io.Writer, output, member, text string, err error) error {
	if err != nil {
		return err
	}
	if output == "json" {
		return writeJSON(w, map[string]string{member: text})
	}
	_, err = io.WriteString(w, text)
	return err
}
