package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// safe makes text safe to print on one line of a terminal: characters that are not printable,
// which could move the cursor, change colours or the direction of text, are shown as escapes.
func safe(text string) string { return clean(text, false) }

// lines is like safe, for text of several lines.
func lines(text string) string { return clean(text, true) }

func clean(text string, keepLines bool) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(r), keepLines && r == '\n':
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// table prints rows under headings; columns are as wide as their widest cell. It makes the cells
// safe.
func table(w io.Writer, headings []string, rows [][]string) error {
	widths := make([]int, len(headings))
	all := append([][]string{headings}, rows...)
	for y, row := range all {
		all[y] = make([]string, len(headings))
		for x := range headings {
			all[y][x] = safe(row[x])
			widths[x] = max(widths[x], utf8.RuneCountInString(all[y][x]))
		}
	}
	var b strings.Builder
	for _, row := range all {
		var line strings.Builder
		for x, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[x]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// size writes a number of bytes as people read it.
func size[N int | int64](bytes N) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	value := float64(bytes)
	i := 0
	for ; value >= 1024 && i < len(units)-1; i++ {
		value /= 1024
	}
	if i == 0 {
		return strconv.FormatInt(int64(bytes), 10) + "B"
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + units[i]
}

// span writes a duration as people read it.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		text := d.Round(time.Second).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		return text
	}
}
