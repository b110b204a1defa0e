package promquery_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// api is a server that speaks the Prometheus API and does what the label job of the query says.
type api struct {
	*httptest.Server
	calls, running atomic.Int32
	last           atomic.Pointer[http.Request]
}

// words are what the fake's errors say; none may reach a caller.
const words = "s3cret-words-of-the-source"

var jobOf = regexp.MustCompile(`job="([^"]*)"`)

func newAPI(t testing.TB) *api {
	t.Helper()
	a := &api{}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	a.calls.Add(1)
	_ = r.ParseForm()
	a.last.Store(r)
	job := ""
	if m := jobOf.FindStringSubmatch(r.Form.Get("query")); m != nil {
		job = m[1]
	}
	status, rest, _ := strings.Cut(job, ":")
	switch {
	case job == "slow":
		a.running.Add(1)
		defer a.running.Add(-1)
		<-r.Context().Done()
	case job == "flood":
		a.running.Add(1)
		defer a.running.Add(-1)
		flood(w)
	case job == "trickle":
		a.running.Add(1)
		defer a.running.Add(-1)
		io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case job == "broken":
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[`)
	case status == "body":
		io.WriteString(w, bodies[rest])
	case len(status) == 3 && rest != "":
		var code int
		fmt.Sscan(status, &code)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"status":"error","errorType":%q,"error":"%s %s"}`, rest, words, reasons[rest])
	default:
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":%q,"tenant":"a"},"value":[1700000000.5,"1.5"]}]}}`, job)
	}
}

// flood sends one series without an end.
func flood(w http.ResponseWriter) {
	if _, err := io.WriteString(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"tenant":"a"},"values":[[1,"1"]`); err != nil {
		return
	}
	piece := strings.Repeat(`,[1700000000.123,"123456789.5"]`, 1000)
	for range 20_000 {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

var reasons = map[string]string{"execution": "many-to-many matching not allowed"}

const good = `{"metric":{"tenant":"a"},"value":[1,"2"]}`

func success(result, more string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + result + `]}` + more + `}`
}

var bodies = map[string]string{
	"empty":       success("", ""),
	"warned":      success(good, `,"warnings":["`+words+`"]`),
	"emptywarned": success("", `,"warnings":["`+words+`"]`),
	"emptypart":   success("", `,"isPartial":true`),
	"many":        success(strings.Repeat(good+",", 9)+good, ""),
	"infos":       success("", `,"infos":["PromQL info"]`),
	"swapped":     `{"data":{"result":[` + good + `],"resultType":"vector"},"status":"success"}`,
	"name":        success(`{"metric":{"__name__":"secret_tokens_total"},"value":[1,"2"]}`, ""),
	"tenant":      success(good+`,{"metric":{"tenant":"b"},"value":[1,"2"]}`, ""),
	"histogram":   success(`{"metric":{},"histogram":[1,{"count":"3"}]}`, ""),
	"nothing":     ``,
	"text":        words,
	"html":        `<html>` + words + `</html>`,
	"cut":         `{"status":"success","data":{"resultType":"vector","result":[` + good,
	"unsuccess":   `{"status":"` + words + `","data":{"resultType":"vector","result":[]}}`,
	"nodata":      `{"status":"success"}`,
	"nulldata":    `{"status":"success","data":null}`,
	"badsample":   success(`{"metric":{},"value":["1","2"]}`, ""),
	"badvalue":    success(`{"metric":{},"value":[1,2]}`, ""),
	"three":       success(`{"metric":{},"value":[1,"2",3]}`, ""),
	"nosample":    success(`{"metric":{}}`, ""),
	"nolabels":    success(`{"value":[1,"2"]}`, ""),
	"duplicate":   `{"status":"error","status":"success","data":{"result":[]}}`,
}
