// Package promguard turns an agent's PromQL into a query that cannot leave its grants.
//
// It is a translator, not a filter: the text is bounded, parsed, translated into a small tree
// of allowed constructs, printed from that tree, and the print is parsed and checked again.
// What has no translation is refused, so a construct that a later PromQL adds is refused until
// somebody judges it. Upstream's own printer is never used on what runs.
//
// Every selector of the printed query names exactly one allowed metric by equality and carries
// every mandatory matcher. Whatever is computed from such selectors is computed from allowed
// series only, so operators and functions are judged by cost and by honesty: a query may not
// write the metric name or a mandatory label into its results, may not move its evaluation in
// time with @, and may not contradict a mandatory matcher, because the emptiness of such an
// answer would look like evidence.
//
// What is printed parses on Prometheus 2.42 unless the source is declared version 3.
package promguard
