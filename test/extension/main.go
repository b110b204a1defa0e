// Command opsboundary is toolboundary with one more tool, built outside its repository.
package main

import (
	"os"

	"example.com/opsboundary/deploys"
	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
)

func main() {
	os.Exit(bootstrap.Main("1.0", bootstrap.WithKind(deploys.Kind(), deploys.Build)))
}
