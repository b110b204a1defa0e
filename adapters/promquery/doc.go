// Package promquery is the tool prometheus_query: one guarded PromQL query, at one instant or
// over a range, on a server of the Prometheus HTTP API (Prometheus, VictoriaMetrics).
//
// What may be read is promguard's to say. This package bounds the rest: the range, the step,
// the number of series and samples, the time, and the bytes that are read of an answer. Every
// answer carries its scope (the query as it ran, with the matchers that the service added, and
// its times), so that an empty one says what was not found where. An answer that the source
// calls partial is never evidence of absence.
//
// Projector down-samples what does not fit and says so; each series keeps its minimum, maximum,
// mean and last value, made of all its samples.
//
// Where things are: executor.go (Prepare, Execute), request.go and window.go (the request and its
// times), promguard (the query), client.go (one HTTP exchange), receive.go and reader.go (the answer
// as it streams), response.go (the raw response), projector.go and series.go (the agent result),
// source.go (the configuration), ready.go (which sources answer).
package promquery
