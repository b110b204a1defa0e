package sqlguard

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// nearTable returns the allowlisted table whose name is closest to what was written, or "".
func (g *Guard) nearTable(written string) string {
	best, distance := "", 0
	for _, t := range g.tables {
		name := t.full
		if t.Schema == g.defaultSchema && !strings.Contains(written, ".") {
			name = t.Name
		}
		if d := editDistance(written, name); best == "" || d < distance {
			best, distance = name, d
		}
	}
	if near(written, distance) {
		return best
	}
	return ""
}

// tableList names allowlisted tables, as an agent would write them: those with the nearest names, where there are many.
func (g *Guard) tableList(written string) string {
	names := make([]string, len(g.tables))
	for i, t := range g.tables {
		names[i] = t.full
	}
	return nearestList(names, written)
}

// nearestList joins names, in their order, and of many only those that are nearest to what was written.
func nearestList(names []string, written string) string {
	const schemaTool = "mysql_schema"
	if len(names) <= maxNearNames {
		return strings.Join(names, ", ")
	}
	nearest := slices.Clone(names)
	slices.SortStableFunc(nearest, func(a, b string) int { return cmp.Compare(editDistance(written, a), editDistance(written, b)) })
	more := len(names) - maxNearNames
	return strings.Join(nearest[:maxNearNames], ", ") + " and " + strconv.Itoa(more) + " more, which " + schemaTool + " lists"
}

// nearColumn returns the column of t whose name is closest to what was written, or "".
func nearColumn(t *table, written string) string {
	best, distance := "", 0
	for _, c := range t.Columns {
		if d := editDistance(written, c.Name); best == "" || d < distance {
			best, distance = c.Name, d
		}
	}
	if near(written, distance) {
		return best
	}
	return ""
}

func columnList(t *table, written string) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return nearestList(names, written)
}

// near decides whether a distance is a misspelling of something as long as what was written.
func near(written string, distance int) bool {
	return distance <= max(1, min(len(written), maxNameChars)/3)
}

// editDistance is Levenshtein's over bytes with ASCII case folded, of at most the first 64 bytes of each.
func editDistance(a, b string) int {
	a, b = lowerASCII(a[:min(len(a), maxNameChars)]), lowerASCII(b[:min(len(b), maxNameChars)])
	var row [maxNameChars + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
