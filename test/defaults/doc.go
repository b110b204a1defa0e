// Package defaults proves that the defaults of the configuration are those of the adapters.
//
// The configuration decides: it names every default, and the composition passes all of them on.
// An adapter has defaults of its own only for programs and tests that use it without a
// configuration. Neither may import the other, so each value is written twice, and compared
// here.
package defaults
