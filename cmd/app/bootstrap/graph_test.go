package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// broken returns what the service's graph says is wrong.
func broken(c config.Config, options ...Option) error {
	p := &parts{}
	for _, o := range options {
		o(p)
	}
	return plain(fx.New(p.service(c, zap.NewNop()), fx.Invoke(watch, func(handlers) {})).Err())
}

func TestTwoToolsOfOneNameAreRefused(t *testing.T) {
	require.NoError(t, broken(configured(t, "", nil), WithTools(fakes)))
	require.EqualError(t, broken(configured(t, "", nil), WithTools(fakes), WithTools(fakes)),
		`tool "probe": two tools have this name`)
}

func TestAnUnknownStoreIsRefused(t *testing.T) {
	c := configured(t, "", nil)
	c.Store.Kind = "paper"
	require.EqualError(t, broken(c, WithTools(fakes)),
		`store.kind: there is no store "paper"; the stores are memory, redis`)
}

func TestAServiceWithoutToolsIsRefused(t *testing.T) {
	require.ErrorIs(t, broken(configured(t, "", nil)), errNoTools)
}

// failing is a builder that fails; closing counts how often its set is closed.
func failing(text string) Option {
	return WithTools(func(toolset.Deps) (toolset.Set, error) { return toolset.Set{}, errors.New(text) })
}

func TestTheProblemsOfAllBuildersAreJoinedAndTheOthersClosed(t *testing.T) {
	closed := 0
	good := WithTools(func(toolset.Deps) (toolset.Set, error) {
		return toolset.Set{Close: func(context.Context) error { closed++; return nil }}, nil
	})
	for range 10 { // the container's order is random
		require.EqualError(t, broken(configured(t, "", nil), failing("b"), good, failing("a"), failing("c")), "a\nb\nc")
	}
	require.Equal(t, 10, closed)
}

func TestSetsAreJoined(t *testing.T) {
	var closed []string
	set := func(name string, err error) toolset.Set {
		return toolset.Set{
			Unready: func(context.Context) []string { return []string{name + "2", name + "1"} },
			Close:   func(context.Context) error { closed = append(closed, name); return err },
		}
	}
	sets := []toolset.Set{set("b", errors.New("stuck")), {}, set("a", nil)}
	require.Equal(t, []string{"a1", "a2", "b1", "b2"}, unready(t.Context(), sets))
	require.EqualError(t, closeAll(t.Context(), sets), "stuck")
	require.ElementsMatch(t, []string{"a", "b"}, closed)
}

// tape is a kind of data source from outside.
type tape struct {
	Path string `yaml:"path" required:"true" doc:"Path of the tape."`
}

func (*tape) Validate(config.Place) {}

// disk is another one.
type disk struct{ tape }

func tapes() config.Kind {
	return config.Kind{Name: "tape", Doc: "A tape.", New: func() config.Source { return &tape{} }}
}

func TestABuilderGetsTheSourcesOfItsKindOnly(t *testing.T) {
	c := configured(t, "data_sources: {a: {kind: tape, path: x}, l: {kind: logs, root: /, files: [x]}}", nil, tapes())
	var got map[string]*tape
	var deps toolset.Deps
	build := func(sources map[string]*tape, d toolset.Deps) (toolset.Set, error) {
		got, deps = sources, d
		return toolset.Set{}, nil
	}
	require.NoError(t, broken(c, WithKind(tapes(), build)))
	require.Equal(t, map[string]*tape{"a": {Path: "x"}}, got)
	require.NotNil(t, deps.Clock)
	require.NotNil(t, deps.Log)

	got = nil
	require.NoError(t, broken(configured(t, "", nil), WithTools(fakes), WithKind(tapes(), build)))
	require.Nil(t, got, "a builder is not called without sources")
}

func TestAKindAndItsBuilderBelongTogether(t *testing.T) {
	wrong := WithKind(tapes(), func(map[string]*disk, toolset.Deps) (toolset.Set, error) { return toolset.Set{}, nil })
	require.EqualError(t, broken(configured(t, "", nil), WithTools(fakes), wrong),
		"the kind tape is not what its builder takes")
	var out bytes.Buffer
	require.Equal(t, cli.Failed, Execute(t.Context(), "", []string{"version"}, cli.Streams{Out: &out, Err: &out},
		wrong))
	require.Contains(t, out.String(), "the kind tape is not what its builder takes")
}

// Every function of the command line is provided by some module.
func TestEveryCommandIsThere(t *testing.T) {
	var do cli.Functions
	var clock ports.Clock
	p := &parts{}
	require.NoError(t, fx.New(p.commandLine(cli.Streams{In: strings.NewReader("")}), fx.Populate(&do, &clock)).Err())
	v := reflect.ValueOf(do)
	for i := range v.NumField() {
		require.False(t, v.Field(i).IsNil(), "no module provides %s", v.Type().Field(i).Name)
	}
}
