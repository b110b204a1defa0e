package logsearch_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/domain/fault"
)

func writeFile(path, content string) error { return os.WriteFile(path, []byte(content), 0o600) }

func removeFile(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Remove(path))
}

func masked(s *logsearch.Source) {
	s.Masks = []string{`password=(\S+)`, `(?i)bearer [a-z0-9._-]+`, `card (\d{4})-(\d{4})`}
}

func TestS40_SecretsAreMaskedEverywhere(t *testing.T) {
	l := newTool(t, tree(t, "app.log", "before password=hunter2 x\nlogin password=hunter2 Authorization: Bearer abc.def card 1111-2222 ok\nafter BEARER zzz\n"), masked)
	r := search(t, l, map[string]any{"pattern": "login", "context": 1})
	require.Equal(t, []line{{At: "app.log:2", Text: "login password=[REDACTED] Authorization: [REDACTED] card [REDACTED]-[REDACTED] ok",
		Before: []string{"before password=[REDACTED] x"}, After: []string{"after [REDACTED]"}}}, r.Lines)
}

// A pattern sees what is shown and nothing else: otherwise it could guess a secret letter by
// letter.
func TestS40_PatternsCannotGuessSecrets(t *testing.T) {
	l := newTool(t, tree(t, "app.log", "password=hunter2 ok\n"), masked, func(s *logsearch.Source) { s.Format = logsearch.FormatLogfmt })
	for _, guess := range []string{"hunter", "password=h", "password=hunter2", `password=.{7} `, `^(password=h.*|never)$`, `r2 ok`} {
		require.Empty(t, search(t, l, map[string]any{"pattern": guess}).Lines, guess)
	}
	require.Empty(t, search(t, l, map[string]any{"fields": map[string]string{"password": "hunter2"}}).Lines)
	require.Len(t, search(t, l, map[string]any{"fields": map[string]string{"password": "[REDACTED]"}}).Lines, 1)
	require.Len(t, search(t, l, map[string]any{"pattern": `password=\[REDACTED\] ok`}).Lines, 1)
}

// The bound of a line must not cut a secret in two, whose first half no mask would know.
func TestS40_SecretsAtTheEndOfWhatIsReadAreMasked(t *testing.T) {
	const most = 8 << 10
	token := strings.Repeat("s3cret", 100)
	for _, pad := range []int{most - 700, most - 300, most - 1, most, most + 3400, most + 4000, most + 4095, most + 4096, most + 5000} {
		for _, rest := range []string{"", strings.Repeat(" tail", 3000)} {
			content := strings.Repeat("x", pad) + "<" + token + ">" + rest + "\n"
			l := newTool(t, tree(t, "app.log", content), func(s *logsearch.Source) { s.MaxLine, s.Masks = most, []string{`<\w+>`} })
			r := search(t, l, map[string]any{"pattern": "x"})
			require.Len(t, r.Lines, 1)
			require.NotContains(t, r.Lines[0].Text, "s3", "pad %d", pad)
			require.LessOrEqual(t, len(r.Lines[0].Text), most)
			require.Empty(t, search(t, l, map[string]any{"pattern": "s3"}).Lines)
		}
	}
}

// What masks take away moves the rest of the line forward, also a secret that is read in part.
func TestS40_ShorteningALineShowsNoHalfSecret(t *testing.T) {
	const most = 8 << 10
	first := "<" + strings.Repeat("w", 6000) + ">"
	content := first + strings.Repeat("x", most+4096-len(first)-300) + "<" + strings.Repeat("s3cret", 100) + ">\n"
	l := newTool(t, tree(t, "app.log", content), func(s *logsearch.Source) { s.MaxLine, s.Masks = most, []string{`<\w+>`} })
	r := search(t, l, map[string]any{"pattern": "x"})
	require.Len(t, r.Lines, 1)
	require.NotContains(t, r.Lines[0].Text, "s3")
}

// outside returns a root with files in and beside it that must never be read.
func outside(t *testing.T) (root string) {
	base := t.TempDir()
	root = filepath.Join(base, "logs")
	put(t, filepath.Join(root, "app.log"), "allowed\n")
	put(t, filepath.Join(root, "secret.txt"), "SECRET inside\n")
	put(t, filepath.Join(root, "nginx", "access.log"), "allowed too\n")
	put(t, filepath.Join(root, "private", "access.log"), "SECRET sub\n")
	put(t, filepath.Join(base, "outside.log"), "SECRET outside\n")
	put(t, filepath.Join(base, "elsewhere", "access.log"), "SECRET elsewhere\n")
	for name, target := range map[string]string{
		"app.log.abs": filepath.Join(base, "outside.log"), "app.log.rel": "../outside.log", "app.log.in": "secret.txt",
		"app.log.proc": "/proc/self/environ", "app.log.self": "app.log.self", "app.log.dangling": "nothing",
		"nginxlink": filepath.Join(base, "elsewhere"), "nginxin": "private", "nginx/access.log.link": "../secret.txt",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "app.log.dir"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "app.log.pipe"), 0o600))
	return root
}

func TestS33_NothingOutsideTheAllowlistIsRead(t *testing.T) {
	root := outside(t)
	l := newTool(t, root, func(s *logsearch.Source) { s.Files = []string{"app.log*", "nginx*/access.log*"} })
	r := search(t, l, map[string]any{})
	require.ElementsMatch(t, []string{"app.log", "nginx/access.log"}, r.Searched.Files)
	require.ElementsMatch(t, []string{"allowed", "allowed too"}, r.texts())
	for _, files := range []string{"secret.txt", "../outside.log", "/etc/passwd", "private/access.log", "nginxlink/access.log", "nginxin/access.log", "app.log/../secret.txt", "*/../secret.txt", "./app.log", "app.log.in"} {
		_, err := execute(t.Context(), t, l, map[string]any{"files": files})
		require.Equal(t, "NO_FILES", fault.Of(err).Reason, files)
	}
}

func TestSourcesThatCannotBeAreRefused(t *testing.T) {
	fine := logsearch.Source{ID: "logs", Root: "/var/log", Files: []string{"*.log"}}
	for name, change := range map[string]func(*logsearch.Source){
		"relative root": func(s *logsearch.Source) { s.Root = "logs" }, "no files": func(s *logsearch.Source) { s.Files = nil },
		"dots": func(s *logsearch.Source) { s.Files = []string{"../x"} }, "inner dots": func(s *logsearch.Source) { s.Files = []string{"a/../../x"} },
		"absolute": func(s *logsearch.Source) { s.Files = []string{"/etc/passwd"} }, "no pattern": func(s *logsearch.Source) { s.Files = []string{"["} },
		"itself": func(s *logsearch.Source) { s.Files = []string{"."} }, "format": func(s *logsearch.Source) { s.Format = "xml" },
		"half a time": func(s *logsearch.Source) { s.TimePattern = "x" }, "time pattern": func(s *logsearch.Source) { s.TimePattern, s.TimeLayout = "(", "x" },
		"mask": func(s *logsearch.Source) { s.Masks = []string{"("} }, "empty mask": func(s *logsearch.Source) { s.Masks = []string{"x*"} },
	} {
		s := fine
		change(&s)
		_, err := logsearch.New([]logsearch.Source{s}, clock{})
		require.Error(t, err, name)
	}
	_, err := logsearch.New([]logsearch.Source{fine, fine}, clock{})
	require.ErrorContains(t, err, "twice")
	_, err = logsearch.New([]logsearch.Source{fine}, clock{})
	require.NoError(t, err)
}
