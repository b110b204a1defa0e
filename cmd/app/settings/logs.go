package settings

import (
	"time"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/config"
)

// Logs returns a data source of log_search.
func Logs(id string, l *config.Logs) (logsearch.Source, error) {
	zone, err := time.LoadLocation(l.TimeZone)
	return logsearch.Source{
		ID: id, Root: l.Root, Files: l.Files, Format: logsearch.Format(l.Format),
		TimePattern: l.TimePattern, TimeLayout: l.TimeLayout, Location: zone, Masks: l.Masks,
		Timeout: l.QueryTimeout, MaxLines: l.MaxLines, MaxLine: int(l.MaxLine), MaxFiles: l.MaxFiles,
		MaxConcurrent: l.MaxConcurrent,
	}, err
}
