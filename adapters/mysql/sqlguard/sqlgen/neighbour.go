package sqlgen

import "strings"

// mutate changes one thing of a statement.
func (g *Generator) mutate(sql string) string {
	switch g.r.IntN(7) {
	case 0:
		return g.rename(sql)
	case 1:
		return sql + pick(g, " FOR UPDATE", " UNION SELECT 1", "; DROP TABLE orders", " INTO OUTFILE '/tmp/x'", " PROCEDURE ANALYSE()", " -- x", ";",
			" LIMIT 1", " ORDER BY 1", " ORDER BY (1)", " LOCK IN SHARE MODE", " /*!50000 LIMIT 1 */", " /*M! LIMIT 1 */", "--1", " WINDOW w AS ()", ";;", "\x00", "\\G")
	case 2:
		return g.replace(sql, [][2]string{
			{" JOIN ", " RIGHT JOIN "}, {" JOIN ", " CROSS JOIN "}, {" JOIN ", " NATURAL JOIN "}, {" JOIN ", " STRAIGHT_JOIN "}, {" AND ", " || "}, {"SELECT ", "SELECT /*+ x */ "},
			{"SELECT ", "SELECT SQL_CACHE "}, {"SELECT ", "SELECT SQL_NO_CACHE "}, {"SELECT ", "SELECT ALL "}, {"SELECT ", "SELECT DISTINCT "}, {"SELECT ", "SELECT *, "},
			{" FROM ", ", @@version FROM "}, {" FROM ", ", (SELECT 1) FROM "}, {" FROM ", ", {fn NOW()} FROM "}, {" WHERE ", " WHERE @a := "}, {" GROUP BY ", " GROUP BY 1, "},
			{" ORDER BY ", " ORDER BY 1, "}, {" ORDER BY ", " ORDER BY NULL, "}, {" HAVING ", " WITH ROLLUP HAVING "}, {" ORDER BY ", " ORDER BY -1, "},
		})
	case 3:
		return g.replace(sql, [][2]string{
			{"LOWER(", "HEX("}, {"COUNT(", "GROUP_CONCAT("}, {"COUNT(", "shop.COUNT("}, {"LOWER(", "shop.lower("}, {"CONCAT(", "LOAD_FILE("}, {"NOW()", "SYSDATE()"}, {"NOW()", "NOW ()"},
			{"TRIM(", "`TRIM`("}, {"DATE(", "DATE "}, {"YEAR(", "EXTRACT(YEAR FROM "}, {"SUBSTRING(", "SUBSTR("}, {"SUM(", "SUM ("}, {"MAX(", "MAX(DISTINCT "}, {"COALESCE(", "SLEEP("},
			{"IF(", "`if`("}, {"LEFT(", "`left`("}, {"CAST(", "CAST(BINARY "}, {" AS CHAR", " AS JSON"}, {" AS CHAR", " AS BINARY"}, {"CURDATE()", "CURRENT_USER()"},
		})
	case 4:
		return g.replace(sql, [][2]string{
			{"'", "_utf8mb4'"}, {"'", "N'"}, {"'", "\""}, {"'", "\\'"}, {"`", "``"}, {"(", "(+"}, {"(", "(!"}, {"(", "(~"}, {"(", "((SELECT 1) + "}, {"?", "??"}, {"?", "'?'"}, {"?", "1"},
			{" LIKE ", " RLIKE "}, {" LIKE ", " LIKE BINARY "}, {" = ", " & "}, {" IN (", " IN (SELECT "}, {" = ", " = ANY (SELECT 1) OR "}, {" = ", " -> "}, {"0x", "0X"}, {" AS ", " AS OF "},
		})
	case 5: // a character dropped, doubled or put in
		at := g.r.IntN(len(sql))
		switch g.r.IntN(3) {
		case 0:
			return sql[:at] + sql[at+1:]
		case 1:
			return sql[:at] + sql[at:at+1] + sql[at:]
		}
		return sql[:at] + pick(g, "'", "\"", "`", "\\", "/*", "*/", "--", "#", ";", "?", "(", ")", "{", "}", "|", "@", ".", ",", " ", "\n", "\x01", "0x", "e", "\u200b", "\ufeff", "*") + sql[at:]
	}
	return g.swapWords(sql)
}

// rename puts another name in the place of one: of a hidden or sensitive column, a hidden table, another table's column.
func (g *Generator) rename(sql string) string {
	s := pick(g, g.scope...)
	from := pick(g, s.table.Columns...).Name
	to := pick(g, pick(g, g.schema.Tables...).Columns...).Name
	switch g.r.IntN(5) {
	case 0, 1:
		if t := pick(g, g.schema.Tables...); len(t.Hidden) > 0 {
			to = pick(g, t.Hidden...)
		}
	case 2:
		if t := pick(g, g.schema.Tables...); len(t.Sensitive) > 0 {
			to = pick(g, t.Sensitive...)
		}
	case 3:
		from, to = s.table.Name, pick(g, g.schema.HiddenTables...)
	}
	at := occurrences(sql, from)
	if len(at) == 0 {
		return sql
	}
	i := pick(g, at...)
	return sql[:i] + to + sql[i+len(from):]
}

// replace makes one of the changes, at one of its places, starting from a random one that has any.
func (g *Generator) replace(sql string, changes [][2]string) string {
	start := g.r.IntN(len(changes))
	for i := range changes {
		c := changes[(start+i)%len(changes)]
		if at := occurrences(sql, c[0]); len(at) > 0 {
			j := pick(g, at...)
			return sql[:j] + c[1] + sql[j+len(c[0]):]
		}
	}
	return sql
}

func (g *Generator) swapWords(sql string) string {
	words := strings.Split(sql, " ")
	i, j := g.r.IntN(len(words)), g.r.IntN(len(words))
	words[i], words[j] = words[j], words[i]
	return strings.Join(words, " ")
}

func occurrences(s, part string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(s[from:], part)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(part)
	}
}

// dress writes some blanks outside quotes as other white space or as comments.
func (g *Generator) dress(sql string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(sql); i++ {
		c := sql[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' && i+1 < len(sql) {
				b.WriteByte(c)
				i++
				c = sql[i]
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == ' ' && g.chance(4):
			b.WriteString(pick(g, "\n", "\t", "  ", " /* ? ' */ ", " -- it's; \"\n", " # `\n", "\r\n", "/**/ "))
			continue
		}
		b.WriteByte(c)
	}
	if g.chance(5) {
		b.WriteString(pick(g, ";", " ; ", " -- end", "\n", " /* end */"))
	}
	return b.String()
}
