package allowlist

import (
	"fmt"
	"strings"
	"unicode"
)

// Account is the account that Grants writes statements for.
type Account struct {
	// User and Host are its two parts, such as toolboundary_shop and %.
	User, Host string
	// RequireTLS refuses logins over connections that are not encrypted.
	RequireTLS bool
}

// Check returns what is wrong with the account's name, or "". The limits are MySQL's, which are
// stricter than MariaDB's.
func (a Account) Check() string {
	odd := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '\'' || r == '\\' })
	}
	switch {
	case a.User == "" || len(a.User) > 32 || odd(a.User):
		return "the account's name must be 1 to 32 printable characters without quotes and backslashes"
	case a.Host == "" || len(a.Host) > 255 || odd(a.Host):
		return "the account's host must be a name, an address or %, without quotes and backslashes"
	}
	return ""
}

// String returns the account as SQL writes it.
func (a Account) String() string { return "'" + a.User + "'@'" + a.Host + "'" }

// Grants returns the statements, for MySQL 8 and MariaDB, that make an account which may read
// the allowlisted columns and nothing else. They can be repeated: the account then has what the
// allowlist says now. The password comes from the session variable @password, so that it is in no
// file and in no list of processes; without it the script stops.
func Grants(a Account, listed Listed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- The allowlist as privileges of %s, for MySQL 8 and MariaDB. Run it as an administrator.\n"+
		"-- Its password comes from a session variable, so that it is in no file:\n"+
		"--   (echo \"SET @password = '…';\"; toolboundary allowlist grants …) | mariadb …\n"+
		"-- An account that exists keeps its password, and loses every privilege that is not listed here.\n", a)
	create := fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY ", a)
	fmt.Fprintf(&b, "SET @toolboundary_create = CONCAT('%s', QUOTE(@password));\n",
		strings.ReplaceAll(create, "'", "''"))
	b.WriteString("PREPARE toolboundary_create FROM @toolboundary_create;\nEXECUTE toolboundary_create;\n" +
		"DEALLOCATE PREPARE toolboundary_create;\n" +
		"SET @toolboundary_create = NULL, @password = NULL;\n")
	if a.RequireTLS {
		fmt.Fprintf(&b, "ALTER USER %s REQUIRE SSL;\n", a)
	}
	fmt.Fprintf(&b, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM %s;\n", a)
	for _, t := range listed.Tables {
		names := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			names[i] = quote(c.Name)
		}
		fmt.Fprintf(&b, "GRANT SELECT (%s) ON %s.%s TO %s;\n", strings.Join(names, ", "), quote(t.Schema),
			quote(t.Name), a)
	}
	return b.String()
}
