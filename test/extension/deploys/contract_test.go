package deploys_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolboundary/toolboundary/adapters/projectors/rows"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/rowset"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/contract/executortest"
	"github.com/toolboundary/toolboundary/test/contract/kit"
	"github.com/toolboundary/toolboundary/test/contract/projectortest"

	"example.com/opsboundary/deploys"
)

func asked(service string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"data_source":"prod","service":%q}`, service))
}

func TestExecutor(t *testing.T) {
	var calls, running atomic.Int32
	var down atomic.Bool
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		calls.Add(1)
		running.Add(1)
		defer running.Add(-1)
		switch service := r.URL.Query().Get("service"); service {
		case "slow":
			<-r.Context().Done()
		case "large":
			io.WriteString(w, `[{"version":"1"}`)
			for piece := strings.Repeat(`,{"version":"1"}`, 1000); ; {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		case "failing":
			http.Error(w, "s3cret words", http.StatusInternalServerError)
		default:
			fmt.Fprintf(w, `[{"version":%q}]`, service)
		}
	}))
	defer api.Close()
	executortest.Test(t, executortest.Subject{
		New: func(kit.T) ports.Executor {
			prod := &deploys.Source{URL: api.URL, Token: config.NewSecret("t0ken", "")}
			made, err := deploys.Build(map[string]*deploys.Source{"prod": prod}, toolset.Deps{})
			if err != nil {
				t.Fatal(err)
			}
			return made.Entries[0].Executor
		},
		Scope: tool.Scope{DataSources: []string{"prod"}},
		Echo:  asked, Large: asked("large"), Slow: asked("slow"),
		Failing: asked("failing"), FailsWith: fault.ExecutionFailed,
		Refused: []executortest.Refused{{Why: "no service", Request: asked(""), Code: fault.RequestInvalid}},
		Running: func(kit.T) int { return int(running.Load()) },
		Calls:   func(kit.T) int { return int(calls.Load()) },
		Secrets: []string{"s3cret", "t0ken", strings.TrimPrefix(api.URL, "http://")},
		Break: func(kit.T) func() {
			down.Store(true)
			return func() { down.Store(false) }
		},
	})
}

func TestProjector(t *testing.T) {
	answer := func(asked string, sensitive bool) func(...string) json.RawMessage {
		return func(texts ...string) json.RawMessage {
			w, _ := rowset.NewWriter(1<<20, rowset.Head{
				Asked:   &rowset.Asked{Statement: asked},
				Columns: []rowset.Column{{Name: "version", Sensitive: sensitive}},
			})
			for _, text := range texts {
				row, _ := json.Marshal([]string{text})
				_ = w.Row(row)
			}
			raw, _ := w.Close(false)
			return raw
		}
	}
	projectortest.Test(t, projectortest.Subject{
		Projector: rows.Projector{}, Answer: answer("", false), Malformed: []json.RawMessage{json.RawMessage(`{}`)},
		Empty:     func(asked string) json.RawMessage { return answer(asked, false)() },
		Sensitive: func(text string) json.RawMessage { return answer("", true)(text) },
	})
}
