// Package settings turns the configuration into what each adapter takes: one file for each
// adapter. It opens nothing but the files of certificates.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// All translates every source with one, in the order of their ids. The error joins those of all
// sources, each with its path in the configuration.
func All[S, T any](sources map[string]S, one func(id string, source S) (T, error)) ([]T, error) {
	var list []T
	var problems []error
	for _, id := range slices.Sorted(maps.Keys(sources)) {
		made, err := one(id, sources[id])
		if err != nil {
			problems = append(problems, fmt.Errorf("data_sources.%s: %w", id, err))
			continue
		}
		list = append(list, made)
	}
	return list, errors.Join(problems...)
}
