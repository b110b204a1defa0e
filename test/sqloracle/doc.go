// Package sqloracle asks a real MariaDB whether the SQL guard is right.
//
// For every statement that the guard accepts, two things must hold. An account with column-level
// grants on exactly the allowlist can run what the guard printed: an access-denied error is a leak.
// And the original text, on a server that holds nothing but the allowlist, gives the same rows as
// the printed text on a server that holds everything: the translation is faithful and does not
// depend on hidden data.
//
// The statements are the corpus, the cases beside it, and generated ones: a fixed seed and a few
// thousand in `go test`, as many as TOOLBOUNDARY_FUZZ_STATEMENTS says, from the seed
// TOOLBOUNDARY_FUZZ_SEED, in `make fuzz`.
package sqloracle
