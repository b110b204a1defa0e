package server

import (
	"context"
	"slices"
	"strings"
)

// privilegeUnknown is listed when the server does not say what the account may do.
const privilegeUnknown = "UNKNOWN"

// BeyondRead returns what the account may do besides SELECT, sorted: names of privileges, ROLE
// for a role whose privileges the server does not list here, UNKNOWN when the server does not
// say. The lines of SHOW GRANTS, which name users, hosts, schemas and on MariaDB a password hash,
// do not leave this function.
func (s *Session) BeyondRead(ctx context.Context) []string {
	var beyond []string
	lines, err := s.Texts(ctx, "SHOW GRANTS")
	if err == nil && len(lines) > 0 {
		for _, line := range lines {
			beyond = append(beyond, grantBeyondRead(line[0], s.product == productMariaDB)...)
		}
	} else {
		beyond = s.listedPrivileges(ctx)
	}
	slices.Sort(beyond)
	return slices.Compact(beyond)
}

// listedPrivileges asks the information schema, for engines without SHOW GRANTS.
func (s *Session) listedPrivileges(ctx context.Context) []string {
	var beyond []string
	for _, table := range []string{"USER_PRIVILEGES", "SCHEMA_PRIVILEGES", "TABLE_PRIVILEGES", "COLUMN_PRIVILEGES"} {
		rows, err := s.Texts(ctx, "SELECT PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema."+table)
		if err != nil && table != "TABLE_PRIVILEGES" && table != "COLUMN_PRIVILEGES" {
			return []string{privilegeUnknown}
		}
		for _, row := range rows {
			beyond = append(beyond, onlyBeyond([]string{row[0]})...)
			if row[1] == "YES" {
				beyond = append(beyond, "GRANT OPTION")
			}
		}
	}
	return beyond
}

// grantBeyondRead reads one line of SHOW GRANTS: GRANT privileges ON what TO whom, GRANT role
// TO whom, or SET DEFAULT ROLE. A line of any other form is UNKNOWN.
func grantBeyondRead(line string, rolesExpanded bool) []string {
	if strings.HasPrefix(line, "SET DEFAULT ROLE ") {
		return nil
	}
	rest, ok := strings.CutPrefix(line, "GRANT ")
	if !ok {
		return []string{privilegeUnknown}
	}
	list, object, ok := cutOutside(rest, " ON ")
	if !ok {
		// A role. MariaDB lists the privileges of the roles in force on lines of their own.
		if rolesExpanded && !strings.Contains(line, " WITH ADMIN OPTION") {
			return nil
		}
		return []string{"ROLE"}
	}
	beyond := onlyBeyond(splitOutside(list))
	if _, tail, found := cutOutside(object, " WITH "); found && strings.Contains(tail, "GRANT OPTION") {
		beyond = append(beyond, "GRANT OPTION")
	}
	return beyond
}

func onlyBeyond(privileges []string) []string {
	var beyond []string
	for _, p := range privileges {
		name, _, _ := strings.Cut(p, "(") // SELECT (`id`, `name`)
		name = strings.ToUpper(strings.TrimSpace(name))
		switch {
		case name == "SELECT" || name == "USAGE":
		case name == "" || strings.ContainsAny(name, "`'\"@"):
			beyond = append(beyond, privilegeUnknown)
		default:
			beyond = append(beyond, name)
		}
	}
	return beyond
}

// cutOutside cuts s at the first sep outside quotes and parentheses.
func cutOutside(s, sep string) (before, after string, found bool) {
	i := outside(s, func(rest string) bool { return strings.HasPrefix(rest, sep) })
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// splitOutside splits s at commas outside quotes and parentheses.
func splitOutside(s string) []string {
	var parts []string
	for {
		part, rest, found := cutOutside(s, ",")
		parts = append(parts, part)
		if !found {
			return parts
		}
		s = rest
	}
}

// outside returns the first index outside quotes and parentheses at which match holds, or -1.
func outside(s string, match func(rest string) bool) int {
	depth := 0
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote { // a doubled quote closes and opens again
				quote = 0
			}
		case c == '`' || c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && match(s[i:]):
			return i
		}
	}
	return -1
}
