package logsearch_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/domain/evidence"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
)

// outcome is what becomes of a search: FOUND, NONE, or why there is no answer.
func outcome(t *testing.T, l *logsearch.Executor, request map[string]any) string {
	t.Helper()
	plan, err := l.Prepare(requestJSON(t, request), scope)
	if err != nil {
		return string(fault.CodeOf(err)) + " " + fault.Of(err).Reason
	}
	text, err := execute(t.Context(), t, l, request)
	if err != nil {
		require.Equal(t, fault.ExecutionFailed, fault.CodeOf(err), detail(err))
		return fault.Of(err).Reason
	}
	p, err := logsearch.Projector{}.Project(text, plan.Bounds)
	require.NoError(t, err)
	return map[evidence.Status]string{evidence.Found: "FOUND", evidence.None: "NONE"}[p.Status]
}

// through pipes the text through a program that compresses it.
func through(t *testing.T, text string, program ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	require.NoError(t, err, program)
	return string(out)
}

func encoded(t *testing.T, text string, e encoding.Encoding) string {
	t.Helper()
	out, err := e.NewEncoder().String(text)
	require.NoError(t, err)
	return out
}

// planted is an answer that is in the files.
const planted = "2026-11-30T11:30:00Z ERROR disk full\n"

// many has the answer in its middle: enough for blocks and dictionaries to matter.
var many = strings.Repeat("2026-11-30T11:29:00Z fine\n",
	20_000) + planted + strings.Repeat("2026-11-30T11:31:00Z fine\n", 20_000)

// TestS12_EveryWayToOverlookAnAnswer plants an answer in each row: it must be found, or the answer must
// not be evidence of its absence. docs/negatives.md says what becomes of each way.
func TestS12_EveryWayToOverlookAnAnswer(t *testing.T) {
	full := map[string]any{"pattern": "disk full"}
	ranged := map[string]any{"pattern": "disk full", "start": "2026-11-30T11:00:00Z"}
	fields := func(list ...string) map[string]any {
		m := map[string]string{}
		for i := 0; i < len(list); i += 2 {
			m[list[i]] = list[i+1]
		}
		return map[string]any{"fields": m}
	}
	json := func(s *logsearch.Source) {
		s.Format, s.TimePattern, s.TimeLayout = logsearch.FormatJSON, `"ts":"([^"]+)"`, logsearch.LayoutRFC3339
	}
	logfmt := func(s *logsearch.Source) { s.Format = logsearch.FormatLogfmt }
	nginx := func(s *logsearch.Source) {
		json(s)
		s.Files = append(s.Files, "nginx/*")
		s.ByFile = []logsearch.Lines{{
			Files: []string{"nginx/*"}, Format: logsearch.FormatText,
			TimePattern: `\[([^\]]+)\]`, TimeLayout: "02/Jan/2006:15:04:05 -0700",
		}}
	}
	const access = `1.2.3.4 - - [30/Nov/2026:11:30:00 +0000] "GET /disk full" 500` + "\n"
	const doc = `{"ts":"2026-11-30T11:30:00Z",`
	zst, xz := through(t, many, "zstd", "-c"), through(t, many, "xz", "-c")
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)

	for _, row := range []struct {
		way, name, content string
		source             func(*logsearch.Source)
		request            map[string]any
		want               string
	}{
		// Times.
		{"log4j", "app.log", "2026-11-30 11:30:00,123 ERROR disk full\n", rfc3339, ranged, "FOUND"},
		{"an offset without a colon", "app.log", "2026-11-30T13:30:00+0200 disk full\n", rfc3339, ranged, "FOUND"},
		{"a blank before the offset", "app.log", "2026-11-30 13:30:00.5 +0200 disk full\n", rfc3339, ranged, "FOUND"},
		{"small letters", "app.log", "2026-11-30t11:30:00z disk full\n", rfc3339, ranged, "FOUND"},
		{"a blank for the T", "app.log", "2026-11-30 11:30:00Z disk full\n", rfc3339, ranged, "FOUND"},
		{"colours", "app.log", "\x1b[90m2026-11-30T11:30:00Z\x1b[0m disk \x1b[31mfull\x1b[0m\n", rfc3339, ranged,
			"FOUND"},
		{"a layout that fits no line", "app.log", access, rfc3339, ranged, "PARTIAL_ANSWER"},
		{"a layout that fits no line, which does not match either", "app.log", access, rfc3339,
			map[string]any{"pattern": "x", "start": "now-1h"}, "PARTIAL_ANSWER"},
		{"a panic before the first time", "app.log", "panic: disk full\n2026-11-30T11:30:01Z fine\n", rfc3339, ranged,
			"PARTIAL_ANSWER"},
		{"a panic after a line before the range", "app.log",
			"2026-11-30T10:30:00Z fine\ndisk full\n2026-11-30T11:30:01Z fine\n", rfc3339, ranged, "PARTIAL_ANSWER"},
		{"a panic at the end of a file whose last time is before the range", "app.log",
			"2026-11-30T10:30:00Z fine\ndisk full\n", rfc3339, ranged, "PARTIAL_ANSWER"},
		{"a time that cannot be read after one that can", "app.log",
			"2026-11-30T10:30:00Z fine\n30.11.2026-11:30 disk full\n2026-11-30T10:40:00Z x\n",
			func(s *logsearch.Source) { s.TimePattern, s.TimeLayout = `^[\d.:TZ-]+`, logsearch.LayoutRFC3339 },
			ranged, "PARTIAL_ANSWER"},
		{"a stack whose lines begin with words", "app.log", "2026-11-30T11:30:00Z fine\nValueError: disk full\n",
			rfc3339, ranged, "FOUND"},
		{"a form by file", "nginx/access.log", access, nginx, ranged, "FOUND"},
		{"fields of files that have none", "nginx/access.log", access, nginx, fields("status", "500"),
			"PARTIAL_ANSWER"},
		{"a range in the future", "app.log", planted, rfc3339,
			map[string]any{"pattern": "disk full", "start": "2026-11-30T12:00:01Z"}, "REQUEST_INVALID TIMES"},
		{"a range before the first line", "app.log", planted, rfc3339,
			map[string]any{"start": "2026-11-29T00:00:00Z", "end": "2026-11-29T23:00:00Z"}, "NO_LINES"},
		{"a range after the last line", "app.log", planted, rfc3339, map[string]any{"start": "2026-11-30T11:40:00Z"},
			"NO_LINES"},
		{"an empty file", "app.log", "", rfc3339, full, "NO_LINES"},

		// Files.
		{"gzip", "app.log.1.gz", many, rfc3339, ranged, "FOUND"},
		{"gzip by another name", "app.log.1", zipped(t, many), rfc3339, ranged, "FOUND"},
		{"gzip in capitals", "app.log.GZ", zipped(t, many), rfc3339, ranged, "FOUND"},
		{"members of gzip", "app.log.1", zipped(t, "fine\n") + zipped(t, planted), rfc3339, ranged, "FOUND"},
		{"xz", "app.log.xz", xz, rfc3339, ranged, "FOUND"},
		{"xz in many blocks", "app.log.xz", through(t, many, "xz", "-c", "-T2", "--block-size=100KiB"), rfc3339,
			ranged, "FOUND"},
		{"streams of xz", "app.log.xz", through(t, "fine\n", "xz", "-c") + through(t, planted, "xz", "-c"), rfc3339,
			ranged, "FOUND"},
		{"bzip2", "app.log.bz2", through(t, many, "bzip2", "-c"), rfc3339, ranged, "FOUND"},
		{"zstd", "app.log.zst", zst, rfc3339, ranged, "FOUND"},
		{"zstd by another name", "app.log.1", zst, rfc3339, ranged, "FOUND"},
		{"frames of zstd", "app.log.zst",
			"\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + through(t, "fine\n", "zstd", "-c") + through(t, planted, "zstd",
				"-c"), rfc3339, ranged, "FOUND"},
		{"half an xz", "app.log.xz", xz[:len(xz)/2], rfc3339, ranged, "PARTIAL_ANSWER"},
		{"half a zstd", "app.log.zst", zst[:len(zst)/2], rfc3339, ranged, "PARTIAL_ANSWER"},
		{"half a bzip2", "app.log.bz2", through(t, many, "bzip2", "-c")[:100], rfc3339, ranged, "PARTIAL_ANSWER"},
		{"xz with a dictionary that is too large", "app.log.xz",
			through(t, planted, "xz", "-c", "--lzma2=dict=128MiB"), rfc3339, ranged, "PARTIAL_ANSWER"},
		{"zstd with a window that is too large", "app.log.zst",
			through(t, strings.Repeat("x", 200<<20)+"\n"+planted, "zstd", "-c", "--long=27"), rfc3339, ranged,
			"PARTIAL_ANSWER"},
		{"gzip in gzip", "app.log.gz", zipped(t, planted), rfc3339, ranged, "PARTIAL_ANSWER"},
		{"more than may be unpacked", "app.log.gz", strings.Repeat("x", 1<<20) + "\n" + planted,
			func(s *logsearch.Source) { s.MaxUnpacked = 1 << 20 }, full, "PARTIAL_ANSWER"},
		{"lz4", "app.log.1", "\x04\x22\x4d\x18\x64\x40\xa7\x25\x00\x00\x80 ERROR disk\x06f\xfell", rfc3339, full,
			"PARTIAL_ANSWER"},
		{"zip", "app.log.1", "PK\x03\x04 ERR", rfc3339, full, "PARTIAL_ANSWER"},
		{"a name of brotli", "app.log.br", "any bytes", rfc3339, full, "PARTIAL_ANSWER"},
		{"encrypted", "app.log.1", "\x85\x02\x0c\x03\x19\x11\x7f\x0e\x08\x9a\xc6\x1a\x05", rfc3339, full,
			"PARTIAL_ANSWER"},

		// Bytes.
		{"NULs of copytruncate", "app.log", strings.Repeat("\x00", 3<<20) + planted, rfc3339, ranged, "FOUND"},
		{"a byte order mark", "app.log", "\xef\xbb\xbf" + planted, rfc3339, ranged, "FOUND"},
		{"a byte order mark in the middle", "app.log", "fine\n\xef\xbb\xbf" + planted, rfc3339, ranged, "FOUND"},
		{"a byte order mark before JSON", "app.log", "\xef\xbb\xbf" + doc + `"level":"error"}`, json,
			fields("level", "error"), "FOUND"},
		{"UTF-16", "app.log", encoded(t, planted, utf16), rfc3339, ranged, "FOUND"},
		{"UTF-16, big end first", "app.log", encoded(t, planted, unicode.UTF16(unicode.BigEndian, unicode.UseBOM)),
			rfc3339, ranged, "FOUND"},
		{"UTF-16 that was zipped", "app.log.gz", encoded(t, planted, utf16), rfc3339, ranged, "FOUND"},
		{"UTF-16 without a mark", "app.log",
			encoded(t, planted, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)), rfc3339, full,
			"PARTIAL_ANSWER"},
		{"UTF-32", "app.log", encoded(t, planted, utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)), rfc3339, full,
			"PARTIAL_ANSWER"},
		{"Latin-1", "app.log", "disk full at caf\xe9\n", nil, map[string]any{"pattern": "café"}, "PARTIAL_ANSWER"},
		{"accents in two characters", "app.log", "disk full at cafe\u0301\n", nil, map[string]any{"pattern": "café"},
			"FOUND"},
		{"accents in two characters, asked for", "app.log", "disk full at café\n", nil,
			map[string]any{"pattern": "cafe\u0301"}, "FOUND"},
		{"a line past max_line", "app.log", strings.Repeat("x", 20_000) + " disk full\n", nil, full, "FOUND"},
		{"a line past what is examined", "app.log", strings.Repeat("x", 2<<20) + " disk full\n", nil, full,
			"PARTIAL_ANSWER"},
		{"ends of lines as of DOS", "app.log", "disk full\r\n", nil, map[string]any{"pattern": "full$"}, "FOUND"},

		// Fields and escapes.
		{"escapes of JSON", "app.log", doc + `"msg":"plein \u00e0 caf\u00e9 \ud83d\ude00"}`, json,
			map[string]any{"pattern": "à café 😀"}, "FOUND"},
		{"quotes in JSON", "app.log", doc + `"msg":"open \"C:\\x\": disk full"}`, json,
			map[string]any{"pattern": `open "C:\\x": disk`}, "FOUND"},
		{"escapes as they are written", "app.log", doc + `"msg":"a\nb"}`, json, map[string]any{"pattern": `a\\nb`},
			"FOUND"},
		{"lines in a line", "app.log", doc + `"msg":"a\nb"}`, json, map[string]any{"pattern": `a\nb`}, "FOUND"},
		{"escapes of JSON in a text", "app.log", `x {"msg":"caf\u00e9"}` + "\n", nil,
			map[string]any{"pattern": `café`}, "FOUND"},
		{"quotes in logfmt", "app.log", `msg="disk \"full\""` + "\n", logfmt,
			map[string]any{"pattern": `disk "full"`}, "FOUND"},
		{"members of members", "app.log", doc + `"log":{"level":"error"}}`, json, fields("log.level", "error"),
			"FOUND"},
		{"a dot in a name", "app.log", doc + `"log.level":"error"}`, json, fields("log.level", "error"), "FOUND"},
		{"an item of a list", "app.log", doc + `"tags":["a","b"],"in":[{"x":1}]}`, json,
			fields("tags", "b", "in.x", "1"), "FOUND"},
		{"a field that no line has", "app.log", doc + `"log":{"level":"error"}}`, json, fields("level", "error"),
			"FIELD_UNKNOWN"},
		{"lines before which something stands", "app.log", `app | {"level":"error"}` + "\n", json,
			fields("level", "error"), "FIELD_UNKNOWN"},
		{"half an object", "app.log", doc + `"level":"error","x":1}` + "\n" + doc + `"x":`, json,
			fields("level", "error", "x", "2"), "PARTIAL_ANSWER"},
		{"members too deep", "app.log", strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20), json,
			fields(strings.Repeat("a.", 19)+"a", "1"), "FIELD_UNKNOWN"},
		{"a tab in logfmt", "app.log", "level=error\tmsg=full user=bob\n", logfmt,
			fields("level", "error", "msg", "full"), "FOUND"},
		{"an escape in logfmt that Go does not know", "app.log", `msg="disk \d full" level=error` + "\n", logfmt,
			fields("msg", `disk \d full`, "level", "error"), "FOUND"},
		{"a quote in logfmt that does not end", "app.log", `level=error msg="disk full` + "\n", logfmt,
			fields("level", "error", "msg", "disk full"), "PARTIAL_ANSWER"},
		{"a pattern of two lines", "app.log", "disk\nfull\n", nil, map[string]any{"pattern": `disk\nfull`},
			"QUERY_REJECTED PATTERN"},
	} {
		t.Run(row.way, func(t *testing.T) {
			content := row.content
			if row.way == "gzip in gzip" {
				content = zipped(t, content) // tree zips it once more
			}
			root := tree(t, row.name, content)
			l := newTool(t, root, func(s *logsearch.Source) {
				if row.source != nil {
					row.source(s)
				}
			})
			require.Equal(t, row.want, outcome(t, l, row.request))
		})
	}
}

// The negatives that are earned stay evidence, with what was searched.
func TestS12_NothingIsThereAndEverythingWasRead(t *testing.T) {
	json := func(s *logsearch.Source) {
		s.Format, s.TimePattern, s.TimeLayout = logsearch.FormatJSON, `"ts":"([^"]+)"`, logsearch.LayoutRFC3339
	}
	never := map[string]any{"pattern": "never"}
	ranged := map[string]any{"pattern": "never", "start": "2026-11-30T11:00:00Z"}
	for _, row := range []struct {
		way, name, content string
		source             func(*logsearch.Source)
		request            map[string]any
	}{
		{"plain", "app.log", planted, rfc3339, never},
		{"in a range", "app.log", planted, rfc3339, ranged},
		{"gzip", "app.log.gz", many, rfc3339, ranged},
		{"zstd", "app.log", through(t, many, "zstd", "-c"), rfc3339, ranged},
		{"xz", "app.log", through(t, many, "xz", "-9", "-c"), rfc3339, ranged},
		{"bzip2", "app.log", through(t, many, "bzip2", "-c"), rfc3339, ranged},
		{"UTF-16", "app.log", encoded(t, planted, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)), rfc3339,
			ranged},
		{"NULs", "app.log", strings.Repeat("\x00", 100_000) + planted, rfc3339, ranged},
		{"lines without a time that do not match", "app.log", "panic\n" + planted + "  at x\n", rfc3339, ranged},
		{"a match before the range", "app.log",
			"2026-11-30T10:00:00Z never\n  never\n2026-11-30T10:01:00Z x\n" + planted, rfc3339, ranged},
		{"between two lines", "app.log", planted + "2026-11-30T11:40:00Z ERROR\n", rfc3339,
			map[string]any{"start": "2026-11-30T11:35:00Z", "end": "2026-11-30T11:36:00Z"}},
		{"until later", "app.log", planted, rfc3339,
			map[string]any{"pattern": "never", "start": "now-1h", "end": "2027-01-01T00:00:00Z"}},
		{"Latin-1 and a pattern of ASCII", "app.log", "disk full at caf\xe9\n", nil, never},
		{"a field of another value", "app.log", `{"level":"info"}` + "\nno object\n", json,
			map[string]any{"fields": map[string]string{"level": "error"}}},
		{"a field that other lines have", "app.log", `{"msg":"a"}` + "\n" + `{"level":"info","msg":"b"}` + "\n", json,
			map[string]any{"pattern": `"a"`, "fields": map[string]string{"level": "info"}}},
		{"separators", "app.log", "8=FIX\x019=1\x0135=A\x01\x02\n", nil, never},
	} {
		t.Run(row.way, func(t *testing.T) {
			l := newTool(t, tree(t, row.name, row.content), func(s *logsearch.Source) {
				if row.source != nil {
					row.source(s)
				}
			})
			require.Equal(t, "NONE", outcome(t, l, row.request))
		})
	}
}

// What could not be judged is said of an answer that found something, too.
func TestS38_AnIncompleteAnswerSaysSo(t *testing.T) {
	l := newTool(t, tree(t, "app.log", "disk full\n"+planted+"fi\x00ne\n"+strings.Repeat("x", 2<<20)+"\n"), rfc3339)
	text,
		err := execute(t.Context(), t, l,
		map[string]any{"pattern": "full", "start": "now-1h", "end": "2026-12-01T00:00:00Z"})
	require.NoError(t, err)
	p, err := logsearch.Projector{}.Project(text, tool.Bounds{})
	require.NoError(t, err)
	for _, part := range []string{`"matched":1`, `"unplaced_lines":1`, `"binary_lines":1`, `"long_lines":1`,
		`"incomplete":true`, `"now":"2026-11-30T12:00:00Z"`} {
		require.Contains(t, string(p.AgentResult), part)
	}
}

func TestFieldsThatNoLineHasAreNamedWithThoseThatThereAre(t *testing.T) {
	l := newTool(t,
		tree(t, "app.log",
			`{"log":{"level":"x"},"msg":"a","password=hunter2":1,"sessi\u006fn_hunter2":1}`+"\n"+`{"msg":"b"}`+"\n"),
		func(s *logsearch.Source) {
			s.Format, s.Masks = logsearch.FormatJSON, []string{`password=(\w+)`, `session_(\w+)`}
		})
	_, err := execute(t.Context(), t, l, map[string]any{"fields": map[string]string{"level": "x", "msg": "a"}})
	require.Equal(t,
		`FIELD_UNKNOWN no line has the field "level"; there are log.level, msg, password=[REDACTED], session_[REDACTED]`, detail(err))
}

// A secret that its escapes hide from a mask is masked where it is written, and no pattern and no field
// can guess it.
func TestS40_EscapesHideNoSecret(t *testing.T) {
	for _, format := range []logsearch.Format{logsearch.FormatJSON, logsearch.FormatText, logsearch.FormatLogfmt} {
		l := newTool(t,
			tree(t, "app.log",
				`{"b":"passw\u006frd=hunter2 x"}`+"\n"+`{"msg":"passw\u006frd=hunter2 \u00e9"}`+"\n"+
					`{"a":"passw\u006frd=hun\u0074er2 x"}`+"\n"), masked,
			func(s *logsearch.Source) { s.Format = format })
		r := search(t, l, map[string]any{"pattern": "é", "context": 1})
		require.Equal(t, []line{{At: "app.log:2", Text: `{"msg":"passw\u006frd=[REDACTED] \u00e9"}`,
			Before: []string{`{"b":"passw\u006frd=[REDACTED] x"}`},
			After:  []string{`{"a":"passw\u006frd=[REDACTED] x"}`}}}, r.Lines)
		for _, guess := range []string{"hunter2", "hun", "password=h", `passw\\u006frd=h`, "er2"} {
			require.Empty(t, search(t, l, map[string]any{"pattern": "é|" + guess}).Lines[1:], guess)
		}
		require.Len(t, search(t, l, map[string]any{"pattern": `password=\[REDACTED\] é`}).Lines, 1)
		if format == logsearch.FormatJSON {
			require.Equal(t, "NONE",
				outcome(t, l, map[string]any{"fields": map[string]string{"msg": "password=hunter2 é"}}))
			require.Equal(t, "FOUND",
				outcome(t, l, map[string]any{"fields": map[string]string{"msg": "password=[REDACTED] é"}}))
		}
	}
}

// Colours inside a secret, encodings and compressions do not hide it from a mask either.
func TestS40_DecodedTextIsMasked(t *testing.T) {
	const secret = "2026-11-30T11:30:00Z login password=hunter2 ok\n"
	for name, content := range map[string]string{
		"xz": through(t, secret, "xz", "-c"), "zstd": through(t, secret, "zstd", "-c"),
		"bzip2": through(t, secret, "bzip2", "-c"), "gzip": zipped(t, secret),
		"utf16":   encoded(t, secret, unicode.UTF16(unicode.BigEndian, unicode.UseBOM)),
		"colours": strings.Replace(secret, "word=hun", "wo\x1b[1mrd=\x1b[0mhun\x1b[31m", 1),
		"nuls":    strings.Repeat("\x00", 99) + secret,
	} {
		l := newTool(t, tree(t, "app.log", content), masked, rfc3339)
		r := search(t, l, map[string]any{"pattern": "login"})
		require.Len(t, r.Lines, 1, name)
		require.NotContains(t, r.Lines[0].Text, "hunter", name)
		require.NotContains(t, r.Lines[0].Text, "ter2", name)
		require.Equal(t, "NONE", outcome(t, l, map[string]any{"pattern": "hunter"}), name)
		require.Equal(t, "FOUND", outcome(t, l, map[string]any{"pattern": `password=\[REDACTED\] ok`}), name)
	}
}

// Beyond the first MiB a secret may begin that no mask can recognise: nothing of it is shown or matched.
func TestS40_SecretsAtTheEndOfWhatIsExaminedAreMasked(t *testing.T) {
	token := strings.Repeat("s3cret", 100)
	for _, pad := range []int{1<<20 - 700, 1<<20 - 1, 1 << 20, 1<<20 + 3400, 1<<20 + 4095, 1<<20 + 4096, 1<<20 + 5000} {
		for _, rest := range []string{"", strings.Repeat(" tail", 3000)} {
			content := "begin" + strings.Repeat("x", pad-5) + "<" + token + ">" + rest + "\n"
			l := newTool(t, tree(t, "app.log", content), func(s *logsearch.Source) { s.Masks = []string{`<\w+>`} })
			require.NotEqual(t, "FOUND", outcome(t, l, map[string]any{"pattern": "s3|cret"}), "pad %d", pad)
			require.NotContains(t, search(t, l, map[string]any{"pattern": "xx$|x<|x\\[|begin"}).Lines[0].Text, "s3",
				"pad %d", pad)
		}
	}
}

// While files are rotated, each is found under one of its names, or there is no answer.
func TestS30_AFileThatIsRotatedMeanwhileIsNotOverlooked(t *testing.T) {
	for i := range 1000 {
		root := tree(t, "app.log.1", planted, "app.log", "fine\n")
		l := newTool(t, root)
		var rotating sync.WaitGroup
		begin := make(chan struct{})
		rotating.Go(func() {
			<-begin
			for range i % 50 * 40 { // at another moment each time
				runtime.Gosched()
			}
			for _, n := range [][2]string{{"app.log.1", "app.log.2"}, {"app.log", "app.log.1"}} {
				_ = os.Rename(filepath.Join(root, n[0]), filepath.Join(root, n[1]))
			}
		})
		close(begin)
		text, err := execute(t.Context(), t, l, map[string]any{"pattern": "disk full"})
		rotating.Wait()
		if err != nil {
			require.Equal(t, fault.DataSourceUnavailable, fault.CodeOf(err), detail(err))
			continue
		}
		require.Contains(t, string(text), `"matched":1`)
	}
}

// The age of a copy is not when its lines were written.
func TestS12_FilesWhoseAgeIsWrongAreRead(t *testing.T) {
	for name, content := range map[string]string{
		"app.log": planted, "app.log.1": "2026-11-01T00:00:00Z fine\n" + planted + "  at x\n", "app.log.gz": planted,
	} {
		root := tree(t, name, content)
		age(t, filepath.Join(root, name), 100*time.Hour)
		l := newTool(t, root, rfc3339)
		require.Equal(t, "FOUND", outcome(t, l, map[string]any{"pattern": "disk full", "start": "now-2h"}), name)
		require.Equal(t, "NO_LINES", outcome(t, l, map[string]any{"pattern": "disk full", "start": "now-10m"}), name)
	}
}

// A local time in the hour that is repeated when summer time ends is one of two moments.
func TestS12_AnHourThatIsRepeatedIsNotPlaced(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	l := newTool(t,
		tree(t, "app.log", "2026-10-25 01:30:00 fine\n2026-10-25 02:30:00 disk full\n2026-10-25 03:30:00 fine\n"),
		rfc3339,
		func(s *logsearch.Source) { s.Location = berlin })
	ask := func(pattern, start, end string) string {
		return outcome(t, l,
			map[string]any{"pattern": pattern, "start": "2026-10-25T" + start + "Z", "end": "2026-10-25T" + end + "Z"})
	}
	got := []string{ask("disk", "00:15:00", "00:45:00"), ask("disk", "01:15:00", "01:45:00")}
	slices.Sort(got)
	require.Equal(t, []string{"FOUND", "PARTIAL_ANSWER"}, got)
	require.Equal(t, "NONE", ask("disk", "01:45:00", "02:15:00"))
	require.Equal(t, "NONE", ask("never", "00:15:00", "02:45:00"))
}

// A bomb is stopped at max_unpacked, in the memory of one line.
func TestS20_WhatUnpacksToMuchIsStopped(t *testing.T) {
	packed := zeros(t, 64<<20)
	for name, program := range map[string][]string{"app.log.zst": {"zstd", "-c"}, "app.log.xz": {"xz", "-0", "-c"},
		"app.log.bz2": {"bzip2", "-c"}} {
		root := tree(t, name, through(t, packed, program...))
		l := newTool(t, root, func(s *logsearch.Source) { s.MaxUnpacked = 1 << 20 })
		began := time.Now()
		var got string
		grown := peak(func() { got = outcome(t, l, map[string]any{"pattern": "disk full"}) })
		t.Logf("%s: %s after %s, %d KiB", name, got, time.Since(began).Round(time.Millisecond), grown>>10)
		require.Equal(t, "PARTIAL_ANSWER", got)
		require.Less(t, grown, int64(24<<20))
	}
}

func zeros(t *testing.T, n int) string {
	t.Helper()
	return string(bytes.Repeat([]byte("x"), n))
}
