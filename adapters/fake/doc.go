// Package fake holds a scripted tool, a scripted projector and a manual clock.
//
// A request selects what the tool does and an answer selects what the projector does, so a
// test can drive a whole boundary from outside, concurrently, and still know each outcome.
// Both pass the contract suites as long as no misbehaviour is asked for; the misbehaviours
// (panics, texts that are not JSON, answers past their limits) are what the boundary must survive.
package fake
