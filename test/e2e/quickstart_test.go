package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/test/servers"
)

// step is one command of the transcript and what it prints; … matches anything.
type step struct{ command, output string }

// transcript returns the commands of a Markdown file's console blocks, and its blocks in YAML.
func transcript(t testing.TB, text string) (steps []step, yaml []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?ms)^```(console|yaml)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if block[1] == "yaml" {
			yaml = append(yaml, block[2])
			continue
		}
		for line := range strings.Lines(block[2]) {
			switch {
			case strings.HasPrefix(line, "$ "):
				steps = append(steps, step{command: line[2:]})
			case strings.HasPrefix(line, "> "):
				steps[len(steps)-1].command += line[2:]
			default:
				steps[len(steps)-1].output += line
			}
		}
	}
	return steps, yaml
}

// matches compares text with a pattern in which … matches anything.
func matches(pattern, text string) bool {
	parts := strings.Split(regexp.QuoteMeta(strings.TrimSpace(pattern)), "…")
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(strings.TrimSpace(text))
}

// A new user gets from an unknown database to a running service that answers under a
// least-privilege account, as docs/quickstart.md says, in at most ten commands; and no secret is
// on any command line, in any output or in the log.
func TestQuickstart(t *testing.T) {
	text, err := os.ReadFile("../../docs/quickstart.md")
	require.NoError(t, err)
	tenSteps, rest, found := strings.Cut(string(text), "\n## And then")
	require.True(t, found)
	require.Contains(t, tenSteps, "```sh\nmake build && export PATH=\"$PWD/bin:$PATH\"\n```")
	commands, files := transcript(t, tenSteps)
	require.LessOrEqual(t, len(commands)+1, 10, "with the build")
	after, _ := transcript(t, rest)

	m := servers.SharedMariaDB(t)
	m.Load(t, unknownDatabase(t))
	m.Load(t, `DROP USER IF EXISTS toolboundary_shop;
CREATE USER IF NOT EXISTS quickstart_admin IDENTIFIED BY 'canary-administrator';
GRANT ALL ON warehouse.* TO quickstart_admin WITH GRANT OPTION;
GRANT ALL ON history.* TO quickstart_admin WITH GRANT OPTION;
GRANT CREATE USER, RELOAD ON *.* TO quickstart_admin`)
	defer m.Load(t, "DROP USER IF EXISTS toolboundary_shop, quickstart_admin")
	host, port, _ := strings.Cut(m.Addr, ":")
	here := strings.NewReplacer("127.0.0.1:3306", m.Addr,
		"--host=127.0.0.1 --port=3306", "--host="+host+" --port="+port,
		`listen: "127.0.0.1:8080"`, `listen: "127.0.0.1:0"`, "http://127.0.0.1:8080", "http://$LISTEN")

	dir := t.TempDir()
	all := append(commands, after...)
	outputs, secrets := replay(t, dir, here, all)
	for i, s := range all {
		require.True(t, matches(here.Replace(s.output), outputs[i]),
			"%s\nshould print\n%s\nand prints\n%s", s.command, s.output, outputs[i])
	}
	written, err := os.ReadFile(filepath.Join(dir, "toolboundary.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.True(t, matches("…"+files[0], string(written)), "the file ends otherwise:\n%s", written)

	secrets = append(secrets, "canary-administrator")
	require.Len(t, secrets, 4)
	log, err := os.ReadFile(filepath.Join(dir, "toolboundary.log"))
	require.NoError(t, err)
	lines, err := os.ReadFile(filepath.Join(dir, "cmdlines"))
	require.NoError(t, err)
	require.Contains(t, string(lines), "serve", "the witness has seen the service")
	for _, s := range secrets {
		require.Greater(t, len(s), 15)
		for name, seen := range map[string]string{
			"a command's output": strings.Join(outputs, ""),
			"the log":            string(log),
			"the configuration":  string(written),
			"a command line":     string(lines),
		} {
			require.NotContains(t, seen, s, "a secret is in %s", name)
		}
	}
}

// unknownDatabase is the corpus's schema under other names.
func unknownDatabase(t testing.TB) string {
	t.Helper()
	schema, err := os.ReadFile(corpusDir + "schema.sql")
	require.NoError(t, err)
	shop := regexp.MustCompile(`\b(DATABASE(?: IF EXISTS)? |USE )shop\b`)
	archive := regexp.MustCompile(`\b(DATABASE(?: IF EXISTS)? )archive\b`)
	renamed := shop.ReplaceAllString(string(schema), "${1}warehouse")
	renamed = archive.ReplaceAllString(renamed, "${1}history")
	return strings.NewReplacer("shop.secrets", "warehouse.secrets", "archive.orders", "history.orders").Replace(renamed)
}

// awaitService waits, in the shell of the transcript, until the log says where the service
// listens. The user of the documentation knows the port; here any free one is taken.
const awaitService = `until
  LISTEN=$(sed -n 's/.*"msg":"listening".*"address":"\([^"]*\)".*/\1/p' toolboundary.log 2>/dev/null); [ -n "$LISTEN" ]
do kill -0 %1 || break; sleep 0.02; done
export LISTEN TOOLBOUNDARY_SERVER="http://$LISTEN"
`

// mark separates what the commands print.
const mark = "\x1e"

// script is what the shell executes: each step after a mark, and at the end what the user knows
// and the test must not find.
func script(here *strings.Replacer, steps []step) string {
	const printMark = `printf '\036'` + "\n"
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(printMark + here.Replace(s.command))
		if strings.Contains(s.command, "toolboundary serve") {
			b.WriteString(awaitService)
		}
	}
	b.WriteString(printMark)
	b.WriteString(`printf '%s\n' "$SHOP_PASSWORD" "$TOOLBOUNDARY_HARNESS_KEY" "$TOOLBOUNDARY_TOKEN_KEY" > secrets` +
		"\nkill %1; wait\n")
	return b.String()
}

// replay runs the commands in one shell, as a user would, and returns what each printed and the
// values of the secrets that were made on the way.
func replay(t testing.TB, dir string, here *strings.Replacer, steps []step) (outputs, secrets []string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "bin", "toolboundary"))) // TestMain makes it the command
	require.NoError(t, os.WriteFile(filepath.Join(dir, "script"), []byte(script(here, steps)), 0o600))
	cmd := exec.Command("bash", "--norc", "-m", "script")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir,
		witnessEnv+"="+filepath.Join(dir, "witness"))
	cmd.Stdin = strings.NewReader("quickstart_admin canary-administrator\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	watching := watchCommandLines(filepath.Join(dir, "cmdlines"), cmd.Process.Pid)
	select {
	case <-ended: // its last command is a kill; what counts is what the others printed
	case <-time.After(3 * time.Minute):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		t.Fatalf("the transcript did not end:\n%s", out.String())
	}
	require.NoError(t, watching())
	parts := strings.Split(out.String(), mark)
	require.Len(t, parts, len(steps)+2, "%s", out.String())
	made, err := os.ReadFile(filepath.Join(dir, "secrets"))
	require.NoError(t, err)
	return parts[1 : len(steps)+1], strings.Fields(string(made))
}

// watchCommandLines collects, until stop is called, the command lines of every process of the
// session that leader leads.
func watchCommandLines(file string, leader int) (stop func() error) {
	quit, done := make(chan struct{}), make(chan struct{})
	seen := map[string]bool{}
	go func() {
		defer close(done)
		for again := time.NewTicker(2 * time.Millisecond); ; {
			processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, path := range processes {
				stat, err := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
				if err != nil || !inSession(string(stat), leader) {
					continue
				}
				if line, err := os.ReadFile(path); err == nil {
					seen[strings.ReplaceAll(string(line), "\x00", " ")] = true
				}
			}
			select {
			case <-quit:
				again.Stop()
				return
			case <-again.C:
			}
		}
	}()
	return func() error {
		close(quit)
		<-done
		var b strings.Builder
		for line := range seen {
			b.WriteString(line + "\n")
		}
		return os.WriteFile(file, []byte(b.String()), 0o600)
	}
}

// inSession reads a line of /proc/PID/stat: the fields after the name are state, parent, group
// and session.
func inSession(stat string, leader int) bool {
	_, rest, found := strings.Cut(stat, ") ")
	fields := strings.Fields(rest)
	return found && len(fields) > 3 && fields[3] == fmt.Sprint(leader)
}
