package sqlguard

import "strings"

// lexed is what the scan before the parser found out.
type lexed struct {
	src      string
	markers  []int32 // offsets of placeholders
	numbers  []int32 // offsets at which a number, hex or bit literal may start
	commas   []int32 // per open parenthesis: commas seen, as a stack
	comments int
	joins    int
	cases    int // open CASE
	prefix   int // prefix operators in a row
	strings  int // string literals in a row
	semis    int
	tokens   int
	early    bool // a semicolon before the first token
	having   bool // HAVING before the first FROM, outside parentheses
	from     bool
	dotted   bool   // the last token was a dot
	nesting  int    // the most open parentheses allowed
	interval bool   // INTERVAL directly before a parenthesis
	last     string // the last token, if it was an unquoted word
}

func (l *lexed) reset(src string, nesting int) {
	*l = lexed{src: src, nesting: nesting, markers: l.markers[:0], numbers: l.numbers[:0], commas: append(l.commas[:0], 0)}
}

// scan walks the text as the server's lexer does: it knows strings, quoted identifiers and comments, and reports what the parser would drop
// or read differently. It stops at the first bound passed.
func (l *lexed) scan(rep *report) {
	for i := 0; i < len(l.src) && rep.rank != rankLimit; {
		i = l.token(i, rep)
	}
	if l.having {
		rep.add(rankSyntax, "HAVING comes after FROM, WHERE and GROUP BY")
	}
	if l.early || l.semis > 1 {
		rep.add(rankMultiStatement, "send one statement, with at most one ; at its end")
	}
}

func (l *lexed) token(i int, rep *report) int {
	c := l.src[i]
	switch {
	case c == ' ' || '\t' <= c && c <= '\r':
		return i + 1
	case c < 0x20 || c == 0x7F:
		rep.add(rankSyntax, controlCharacter)
		return i + 1
	case c == '#', c == '-' && l.dashComment(i), c == '/' && i+1 < len(l.src) && l.src[i+1] == '*':
		if l.comments++; l.comments > maxComments {
			rep.add(rankLimit, "more than %d comments", maxComments)
		}
		if c == '/' {
			return l.blockComment(i, rep)
		}
		return l.lineComment(i, rep)
	case c == ';':
		l.semis++
		l.early = l.early || l.tokens == 0
		return i + 1
	}
	l.tokens++
	dotted := l.dotted
	l.dotted = false
	last := l.last
	l.last = ""
	if c == '\'' || c == '"' {
		if l.strings++; l.strings > maxAdjacent {
			rep.add(rankLimit, "more than %d string literals in a row", maxAdjacent)
		}
		return l.quoted(i, c, rep)
	}
	l.strings = 0
	prefix := l.prefix
	l.prefix = 0
	switch {
	case c == '`':
		return l.quoted(i, c, rep)
	case isDigit(c) && !dotted, c == '.' && i+1 < len(l.src) && isDigit(l.src[i+1]) && !l.afterName(i):
		return l.number(i, rep)
	case isNameByte(c):
		return l.word(i, prefix, dotted, rep)
	}
	l.interval = l.interval || c == '(' && sameName(last, "interval")
	return l.symbol(i, prefix, rep)
}

const controlCharacter = "a control character outside a string literal"

func (l *lexed) symbol(i, prefix int, rep *report) int {
	c := l.src[i]
	switch c {
	case '.':
		l.dotted = true
	case '?':
		l.markers = append(l.markers, int32(i))
		if i+1 < len(l.src) && isNameByte(l.src[i+1]) { // the server sees no placeholder in ?FROM
			rep.add(rankSyntax, "a placeholder needs a blank after it")
		}
	case '(':
		l.commas = append(l.commas, 0)
		l.prefix = prefix
		if len(l.commas) > l.nesting {
			rep.add(rankLimit, "more than %d nested parentheses", l.nesting)
		}
	case ')':
		if len(l.commas) > 1 {
			l.commas = l.commas[:len(l.commas)-1]
		}
	case ',':
		if l.commas[len(l.commas)-1]++; l.commas[len(l.commas)-1] >= maxListItems {
			rep.add(rankLimit, "a list of more than %d elements", maxListItems)
		}
	case '-', '+', '!', '~':
		l.prefixOperator(prefix, rep)
	case '|':
		if i+1 < len(l.src) && l.src[i+1] == '|' {
			rep.add(rankNode, "|| is refused because its meaning depends on the server's mode: write CONCAT(a, b) to join texts, or OR")
			return i + 2
		}
	case '{':
		l.brace(i, rep)
	case '\\':
		return min(i+2, len(l.src)) // \N is NULL; anything else fails to parse
	}
	return i + 1
}

func (l *lexed) prefixOperator(prefix int, rep *report) {
	if l.prefix = prefix + 1; l.prefix > maxNesting {
		rep.add(rankLimit, "more than %d prefix operators in a row", maxNesting)
	}
}

// brace refuses the ODBC escapes that are typed literals. The parser knows d, t and ts in lower case only, the server in any; every other
// {word expression} is the expression on both.
func (l *lexed) brace(i int, rep *report) {
	rest := strings.TrimLeft(l.src[i+1:], blanks)
	end := 0
	for end < len(rest) && isNameByte(rest[end]) {
		end++
	}
	switch word := lowerASCII(rest[:end]); {
	case word == "", word == "d", word == "t", word == "ts", strings.ContainsAny(word, "0123456789"):
		rep.add(rankNode, "ODBC escapes are refused: write the date as a string, '2024-01-31'")
	}
}

func (l *lexed) dashComment(i int) bool {
	if !strings.HasPrefix(l.src[i:], "--") {
		return false
	}
	return i+2 == len(l.src) || isBlank(l.src[i+2])
}

func (l *lexed) lineComment(i int, rep *report) int {
	end := strings.IndexByte(l.src[i:], '\n')
	if end < 0 {
		end = len(l.src) - i
	}
	l.checkComment(l.src[i:i+end], rep)
	return i + end
}

func (l *lexed) checkComment(text string, rep *report) {
	for i := range len(text) {
		if c := text[i]; (c < 0x20 && !isBlank(c)) || c == 0x7F {
			rep.add(rankSyntax, controlCharacter)
			return
		}
	}
}

func (l *lexed) blockComment(i int, rep *report) int {
	body := l.src[i+2:]
	switch {
	case strings.HasPrefix(body, "!"), strings.HasPrefix(body, "M!"), strings.HasPrefix(body, "T!"):
		rep.add(rankComment, "comments that some servers execute (/*! */, /*M! */, /*T! */) are refused: leave them out")
	case strings.HasPrefix(body, "+"):
		rep.add(rankHintComment, "optimizer hints are refused: leave them out")
	}
	end := strings.Index(body, "*/")
	if end < 0 {
		rep.add(rankSyntax, "a comment is not closed")
		return len(l.src)
	}
	l.checkComment(body[:end], rep)
	return i + 2 + end + 2
}

// quoted skips a string literal or a quoted identifier. Backslash escapes in strings, not in identifiers.
func (l *lexed) quoted(i int, quote byte, rep *report) int {
	for j := i + 1; j < len(l.src); j++ {
		switch c := l.src[j]; {
		case quote == '`' && (c < 0x20 && !isBlank(c) || c == 0x7F):
			rep.add(rankSyntax, controlCharacter)
		case c == '\\' && quote != '`':
			j++
		case c == quote:
			if j+1 < len(l.src) && l.src[j+1] == quote {
				j++
				continue
			}
			return j + 1
		}
	}
	rep.add(rankSyntax, "a quote is not closed")
	return len(l.src)
}

// number skips a token that starts with a digit: a number, a hex or bit literal, or an identifier such as 1st.
func (l *lexed) number(i int, rep *report) int {
	l.numbers = append(l.numbers, int32(i))
	end := i
	if strings.HasPrefix(l.src[i:], "0x") || strings.HasPrefix(l.src[i:], "0X") || strings.HasPrefix(l.src[i:], "0b") {
		end += 2
		for end < len(l.src) && isNameByte(l.src[end]) {
			end++
		}
		return end
	}
	digits := 0
	for ; end < len(l.src); end++ {
		c := l.src[end]
		if isDigit(c) {
			digits++
		} else if c != '.' && !((c == '+' || c == '-') && (l.src[end-1]|0x20) == 'e') && (c|0x20) != 'e' {
			break
		}
	}
	if digits > maxDigits {
		rep.add(rankLimit, "a number may have at most %d digits", maxDigits)
	}
	return end
}

func (l *lexed) word(i, prefix int, dotted bool, rep *report) int {
	end := i
	for end < len(l.src) && isNameByte(l.src[end]) {
		end++
	}
	word := l.src[i:end]
	if strings.Contains(word, "\uFEFF") {
		rep.add(rankSyntax, "a byte order mark outside a string literal")
	}
	if len(word) == 1 && end < len(l.src) && l.src[end] == '\'' && ((word[0]|0x20) == 'x' || (word[0]|0x20) == 'b') {
		l.numbers = append(l.numbers, int32(i))
	}
	if !dotted {
		l.last = word
		l.keyword(word, prefix, rep)
	}
	return end
}

// keyword counts the few keywords that matter before the parser has run. All of them are reserved words.
func (l *lexed) keyword(word string, prefix int, rep *report) {
	switch {
	case len(word) < 3 || len(word) > 6:
	case sameName(word, "not"):
		l.prefixOperator(prefix, rep)
	case sameName(word, "case"):
		if l.cases++; l.cases > maxNesting {
			rep.add(rankLimit, "more than %d nested CASE", maxNesting)
		}
	case sameName(word, "end"):
		l.cases = max(l.cases-1, 0)
	case sameName(word, "real"), sameName(word, "float"): // reserved words: types of a CAST, which the parser's tree shows as DOUBLE at times
		rep.add(rankNode, castTypes)
	case sameName(word, "join"):
		if l.joins++; l.joins > 2*maxTables {
			rep.add(rankLimit, "more than %d tables", maxTables)
		}
	case sameName(word, "from"):
		l.from = l.from || len(l.commas) == 1
	case sameName(word, "having"):
		l.having = l.having || len(l.commas) == 1 && !l.from
	}
}

// afterName reports whether the dot at i continues a name: then digits after it belong to an identifier.
func (l *lexed) afterName(i int) bool {
	return i > 0 && (isNameByte(l.src[i-1]) && !isDigit(l.src[i-1]) || l.src[i-1] == '`')
}

const blanks = " \t\n\v\f\r"

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return c >= 0x80 || c == '_' || c == '$' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}
