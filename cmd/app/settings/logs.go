package settings

import (
	"errors"
	"time"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/config"
)

// Logs returns a data source of log_search.
func Logs(id string, l *config.Logs) (logsearch.Source, error) {
	zone, err := time.LoadLocation(l.TimeZone)
	problems := []error{err}
	s := logsearch.Source{
		ID: id, Root: l.Root, Files: l.Files, Format: logsearch.Format(l.Format),
		TimePattern: l.TimePattern, TimeLayout: l.TimeLayout, Location: zone, Masks: l.Masks,
		Timeout: l.QueryTimeout, MaxLines: l.MaxLines, MaxLine: int(l.MaxLine), MaxUnpacked: int64(l.MaxUnpacked),
		MaxFiles: l.MaxFiles, MaxConcurrent: l.MaxConcurrent,
	}
	for _, one := range l.ByFile {
		lines := logsearch.Lines{
			Files: one.Files, Format: logsearch.Format(one.Format), TimePattern: one.TimePattern, TimeLayout: one.TimeLayout,
		}
		if one.TimeZone != "" {
			lines.Location, err = time.LoadLocation(one.TimeZone)
			problems = append(problems, err)
		}
		s.ByFile = append(s.ByFile, lines)
	}
	return s, errors.Join(problems...)
}
