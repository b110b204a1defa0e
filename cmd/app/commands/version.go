package commands

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/toolboundary/toolboundary/adapters/cli"
)

// build is what version prints.
type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
}

// PrintVersion prints the version, or that of the main module when it is empty, with what the
// linker knows about the build.
func PrintVersion(version string, asJSON bool, s cli.Streams) error {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Revision = setting.Value
			case "vcs.time":
				b.Time = setting.Value
			}
		}
	}
	if asJSON {
		return json.NewEncoder(s.Out).Encode(b)
	}
	_, err := fmt.Fprintf(s.Out, "toolboundary %s (%s, %s) %s %s\n", b.Version, b.Go, b.Platform, b.Revision, b.Time)
	return err
}
