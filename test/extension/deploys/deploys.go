// Package deploys is the tool deploy_history: what the deploy API says was deployed.
package deploys

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports/rowset"
	"github.com/toolboundary/toolboundary/ports/toolset"
)

// Source is a data source of the kind deploys.
type Source struct {
	URL   string        `yaml:"url" required:"true" doc:"Base URL of the deploy API."`
	Token config.Secret `yaml:"token" doc:"Token of the deploy API"`
}

// Validate checks the URL.
func (s *Source) Validate(at config.Place) {
	if !strings.HasPrefix(s.URL, "https://") && !strings.HasPrefix(s.URL, "http://") {
		at.Key("url").Problem("The URL is not http:// or https://.", "Write it such as https://deploys.example.com.")
	}
}

// Kind is the kind of data source that the tool reads.
func Kind() config.Kind {
	return config.Kind{Name: "deploys", Doc: "The deploy API.", New: func() config.Source { return &Source{} }}
}

// Build builds the tool over the configured sources.
func Build(sources map[string]*Source, _ toolset.Deps) (toolset.Set, error) {
	return toolset.Set{Entries: []toolset.Entry{{Executor: Tool{sources}, Projector: rows.Projector{}}}}, nil
}

// Tool is deploy_history.
type Tool struct{ sources map[string]*Source }

// Describe returns the tool's description.
func (t Tool) Describe() tool.Description {
	return tool.Description{
		Name: "deploy_history", Title: "Deploy history", Text: "List the deploys of a service, newest first.",
		ReadOnly:     true,
		InputSchema:  json.RawMessage(`{"type":"object","additionalProperties":false,"required":["data_source","service"],"properties":{"data_source":{"type":"string"},"service":{"type":"string"}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","required":["columns","rows","returned","truncated"]}`),
		DataSources:  slices.Sorted(maps.Keys(t.sources)),
	}
}

type request struct {
	DataSource string `json:"data_source"`
	Service    string `json:"service"`
}

// Prepare judges the request.
func (t Tool) Prepare(raw json.RawMessage, scope tool.Scope) (tool.Plan, error) {
	var r request
	if err := jsonv2.Unmarshal(raw, &r, jsonv2.RejectUnknownMembers(true)); err != nil || r.Service == "" {
		return tool.Plan{}, fault.Because(fault.RequestInvalid, "MEMBERS",
			"deploy_history takes data_source and service")
	}
	if t.sources[r.DataSource] == nil || scope.Check(r.DataSource) != nil {
		return tool.Plan{}, fault.New(fault.DataSourceUnknown)
	}
	return tool.Plan{DataSource: r.DataSource, Timeout: 10 * time.Second, Body: r}, nil
}

// Execute asks the deploy API.
func (t Tool) Execute(ctx context.Context, plan tool.Plan, limit limits.RawBytes) (json.RawMessage, error) {
	r, ok := plan.Body.(request)
	if !ok {
		return nil, fault.New(fault.Internal)
	}
	raw, err := t.fetch(ctx, r, limit)
	if ctx.Err() != nil {
		return nil, fault.Of(ctx.Err())
	}
	return raw, err
}

func (t Tool) fetch(ctx context.Context, r request, limit limits.RawBytes) (json.RawMessage, error) {
	source := t.sources[r.DataSource]
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		source.URL+"/deploys?service="+url.QueryEscape(r.Service), nil)
	if err != nil {
		return nil, fault.New(fault.Internal)
	}
	req.Header.Set("Authorization", "Bearer "+source.Token.Reveal())
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fault.New(fault.DataSourceUnavailable)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fault.New(fault.ExecutionFailed)
	}
	return rowSet(&rowset.Asked{DataSource: r.DataSource, Statement: "deploys of " + r.Service},
		json.NewDecoder(response.Body), limit)
}

// rowSet makes a row set of a JSON array of deploys while it streams.
func rowSet(asked *rowset.Asked, dec *json.Decoder, limit limits.RawBytes) (json.RawMessage, error) {
	columns := []rowset.Column{{Name: "version"}, {Name: "at"}, {Name: "by", Sensitive: true}}
	w, err := rowset.NewWriter(limit, rowset.Head{Asked: asked, Columns: columns})
	if err != nil {
		return nil, err
	}
	_, err = dec.Token() // [
	for err == nil && dec.More() {
		var d struct{ Version, At, By string }
		if err = dec.Decode(&d); err == nil {
			row, _ := json.Marshal([]string{d.Version, d.At, d.By}) // texts have a JSON form
			err = w.Row(row)
		}
	}
	if err == nil {
		if _, err = dec.Token(); err == nil { // ]
			return w.Close(false)
		}
	}
	if fault.CodeOf(err) != fault.ResultTooLarge {
		err = fault.New(fault.ExecutionFailed)
	}
	return nil, err
}
