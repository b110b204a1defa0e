package httpapi

import (
	"math"
	"net/http"
	"time"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/run"
)

func (a *api) runRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/v1/runs", who: harness, do: a.open, docs: openDocs},
		{method: http.MethodGet, path: "/v1/runs/{run}", who: harness, do: a.find, docs: findDocs},
		{method: http.MethodPost, path: "/v1/runs/{run}/token", who: harness, do: a.token, docs: tokenDocs},
		{method: http.MethodPost, path: "/v1/runs/{run}/cancel", who: harness, do: a.end(run.Cancelled),
			docs: cancelDocs},
		{method: http.MethodPost, path: "/v1/runs/{run}/complete", who: harness, do: a.end(run.Completed),
			docs: completeDocs},
		{method: http.MethodPost, path: "/v1/runs/{run}/references", who: harness, do: a.judge, docs: judgeDocs},
	}
}

func (a *api) open(x *exchange) (answer, error) {
	var body openRun
	if err := x.into(openBytes, &body); err != nil {
		return answer{}, err
	}
	opened, token, err := a.svc.Open(x.r.Context(), x.caller, application.OpenRequest{
		RunID: body.RunID, TTL: duration(body.TTLSeconds),
		Grants:   run.Grants{Tools: body.Tools, DataSources: body.DataSources},
		MaxCalls: body.Budget.MaxCalls, MaxBytes: body.Budget.MaxBytes, MaxRefusals: body.Budget.MaxRefusals,
		MaxCallsPerTool: body.Budget.MaxCallsPerTool.of(body.Tools),
	})
	if err != nil {
		return answer{}, err
	}
	return respond(http.StatusCreated, runWithToken{viewOf(opened), token})
}

// duration returns so many seconds. What a Duration cannot hold becomes the longest or a
// negative one, which every ceiling refuses.
func duration(seconds *int64) *time.Duration {
	if seconds == nil {
		return nil
	}
	d := time.Duration(max(-1, min(*seconds, math.MaxInt64/int64(time.Second)))) * time.Second
	return &d
}

func (a *api) token(x *exchange) (answer, error) {
	if err := x.nothing(); err != nil {
		return answer{}, err
	}
	r, token, err := a.svc.Token(x.r.Context(), x.caller, x.runID)
	if err != nil {
		return answer{}, err
	}
	return respond(http.StatusOK, runWithToken{viewOf(r), token})
}

func (a *api) find(x *exchange) (answer, error) {
	o, err := a.svc.Find(x.r.Context(), x.caller, x.runID)
	if err != nil {
		return answer{}, err
	}
	return respond(http.StatusOK, overviewOf(o))
}

func (a *api) end(to run.State) func(*exchange) (answer, error) {
	return func(x *exchange) (answer, error) {
		if err := x.nothing(); err != nil {
			return answer{}, err
		}
		o, err := a.svc.End(x.r.Context(), x.caller, x.runID, to)
		if err != nil {
			return answer{}, err
		}
		return respond(http.StatusOK, overviewOf(o))
	}
}

func (a *api) judge(x *exchange) (answer, error) {
	var body references
	if err := x.into(referenceBytes, &body); err != nil {
		return answer{}, err
	}
	refs := make([]application.Reference, 0, len(body.References))
	for _, ref := range body.References {
		refs = append(refs, application.Reference{RunID: ref.RunID, ToolCallID: ref.ToolCallID})
	}
	judged, err := a.svc.References(x.r.Context(), x.caller, x.runID, refs)
	if err != nil {
		return answer{}, err
	}
	return respond(http.StatusOK, judgements{judged})
}
