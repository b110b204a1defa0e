package bootstrap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// built is what one builder returned. It carries the error, so that the operator learns of the
// problems of all builders at once.
type built struct {
	set toolset.Set
	err error
}

// tools provides what build makes of the configured data sources of its kind.
func tools[S config.Source](build toolset.Build[S]) fx.Option {
	return member(groupTools, func(c config.Config, clock ports.Clock, log *zap.Logger) built {
		sources := config.SourcesOf[S](c.DataSources)
		if len(sources) == 0 {
			return built{}
		}
		set, err := build(sources, toolset.Deps{Clock: clock, Log: log})
		return built{set, err}
	})
}

// sourceless provides tools that read no configured data source.
func sourceless(build func(toolset.Deps) (toolset.Set, error)) fx.Option {
	return member(groupTools, func(clock ports.Clock, log *zap.Logger) built {
		set, err := build(toolset.Deps{Clock: clock, Log: log})
		return built{set, err}
	})
}

var errNoTools = errors.New("data_sources: there is none, so there is no tool to serve; add one")

// newToolset joins the sets of all builders. Its error joins every builder's, sorted.
func newToolset(lc fx.Lifecycle, all []built) (toolset.Set, error) {
	var sets []toolset.Set
	var problems []error
	for _, b := range all {
		if b.err != nil {
			problems = append(problems, b.err)
			continue
		}
		sets = append(sets, b.set)
	}
	joined := toolset.Set{
		Unready: func(ctx context.Context) []string { return unready(ctx, sets) },
		Close:   func(ctx context.Context) error { return closeAll(ctx, sets) },
	}
	for _, s := range sets {
		joined.Entries = append(joined.Entries, s.Entries...)
	}
	if len(problems) == 0 && len(joined.Entries) == 0 {
		problems = append(problems, errNoTools)
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return toolset.Set{}, errors.Join(append(problems, closeAll(context.Background(), sets))...) // nothing runs yet
	}
	lc.Append(fx.StopHook(joined.Close))
	return joined, nil
}

// unready asks all sets at once which of their data sources cannot be reached, and sorts them.
func unready(ctx context.Context, sets []toolset.Set) []string {
	down := make([][]string, len(sets))
	var all sync.WaitGroup
	for i, s := range sets {
		if s.Unready != nil {
			all.Go(func() { down[i] = s.Unready(ctx) })
		}
	}
	all.Wait()
	return slices.Sorted(slices.Values(slices.Concat(down...)))
}

func closeAll(ctx context.Context, sets []toolset.Set) error {
	var errs []error
	for _, s := range sets {
		if s.Close != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	return errors.Join(errs...)
}
