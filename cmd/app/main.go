// Command toolboundary is the service and its operator's commands.
package main

import (
	"os"

	"github.com/toolboundary/toolboundary/cmd/app/bootstrap"
)

// version is set by the linker.
var version = ""

func main() { os.Exit(bootstrap.Main(version)) }
