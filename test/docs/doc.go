// Package docs tests the documents: every scenario is listed and proved, every relative link
// leads somewhere, and prose stays readable in a terminal.
package docs
