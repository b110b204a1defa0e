package bootstrap

import (
	"time"

	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/logsearch"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/config"
)

// logTools builds log_search over the directories with log files.
func logTools(c config.Config, _ *zap.Logger) (ToolSet, error) {
	configured := config.SourcesOf[*config.Logs](c.DataSources)
	if len(configured) == 0 {
		return ToolSet{}, nil
	}
	var sources []logsearch.Source
	for _, id := range c.DataSources.IDs() {
		l, ok := configured[id]
		if !ok {
			continue
		}
		zone, err := time.LoadLocation(l.TimeZone)
		if err != nil {
			return ToolSet{}, err
		}
		sources = append(sources, logsearch.Source{
			ID: id, Root: l.Root, Files: l.Files, Format: logsearch.Format(l.Format),
			TimePattern: l.TimePattern, TimeLayout: l.TimeLayout, Location: zone, Masks: l.Masks,
			Timeout: l.QueryTimeout, MaxLines: l.MaxLines, MaxLine: int(l.MaxLine), MaxFiles: l.MaxFiles, MaxConcurrent: l.MaxConcurrent,
		})
	}
	search, err := logsearch.New(sources, clock{})
	if err != nil {
		return ToolSet{}, err
	}
	return ToolSet{
		Entries: []application.Entry{{Executor: search, Projector: logsearch.Projector{}}},
		Unready: search.Unready,
	}, nil
}
