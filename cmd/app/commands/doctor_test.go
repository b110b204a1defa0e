package commands

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// write writes a configuration and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func noEnv(string) (string, bool) { return "", false }

// says is an examination that finds one thing.
func says(source, detail string) Examination {
	return Examination{source, func(context.Context) []cli.Finding {
		return []cli.Finding{{Subject: source, Result: cli.Healthy, Detail: detail}}
	}}
}

const threeLogs = `data_sources:
  b: {kind: logs, root: /, files: [x], masks: [y], time_pattern: '^\S+', time_layout: rfc3339}
  a: {kind: logs, root: /, files: [x], masks: [y], time_pattern: '^\S+', time_layout: rfc3339}
  c: {kind: logs, root: /, files: [x], masks: [y], time_pattern: '^\S+', time_layout: rfc3339}
`

func TestDoctorExaminesEachSubjectOnceInOrder(t *testing.T) {
	closed := 0
	d := Doctor{
		Loader: Loader{Env: noEnv},
		Examiners: []Examiner{
			func(config.Config) []Examination { return []Examination{says("b", "known")} },
			func(config.Config) []Examination { return nil },
			func(config.Config) []Examination { return []Examination{says("", "the store")} },
		},
		Tools: func(c config.Config) (toolset.Set, error) {
			id := c.DataSources.IDs()
			if id[0] == "c" {
				return toolset.Set{}, errors.New("one\ntwo")
			}
			return toolset.Set{
				Unready: func(context.Context) []string { return id },
				Close:   func(context.Context) error { closed++; return nil },
			}, nil
		},
	}
	found, err := d.Examine(t.Context(), cli.DoctorArgs{ConfigPath: write(t, threeLogs)})
	require.NoError(t, err)
	var said [][]string
	for _, f := range found {
		said = append(said, []string{f.Subject, f.Result, f.Detail})
	}
	require.Equal(t, [][]string{
		{"configuration", "ok", "nothing risky"}, {"", "ok", "the store"},
		{"a", "fail", "the data source does not answer"},
		{"b", "ok", "known"}, {"c", "fail", "one; two"},
	}, said)
	require.Equal(t, 1, closed)
}

func TestDoctorNeedsAConfiguration(t *testing.T) {
	_, err := Doctor{Loader: Loader{Env: noEnv}}.Examine(t.Context(), cli.DoctorArgs{ConfigPath: write(t, "x: 1")})
	require.ErrorAs(t, err, &cli.UsageError{})
}

func TestConfigCheckClosesTheToolsThatItBuilds(t *testing.T) {
	closed := false
	c := Config{Loader: Loader{Env: noEnv}, Tools: func(config.Config) (toolset.Set, error) {
		return toolset.Set{Close: func(context.Context) error { closed = true; return nil }}, nil
	}}
	require.Empty(t, c.unbuildable(t.Context(), config.Config{}))
	require.True(t, closed)
	c.Tools = func(config.Config) (toolset.Set, error) {
		return toolset.Set{}, errors.Join(errors.New("a"), errors.Join(errors.New("b"), errors.New("c")))
	}
	require.Equal(t, []config.Problem{
		{Message: "a", Fix: "Fix it, or remove it."}, {Message: "b", Fix: "Fix it, or remove it."},
		{Message: "c", Fix: "Fix it, or remove it."},
	}, c.unbuildable(t.Context(), config.Config{}))
}
