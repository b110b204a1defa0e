package mcpserver

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	m, err := parse([]byte(` {"jsonrpc":"2.0", "id":"a","method":"tools/call",` +
		`"params":{"name":"q","arguments": {"n":12345678901234567890,"n":1} ,"_meta":{"k":"v"},"task":{}}} `))
	require.NoError(t, err, "the boundary checks a tool's arguments, not parse")
	require.Equal(t, `"a"`, string(m.id))
	require.Equal(t, "q", m.name)
	require.Equal(t, `{"n":12345678901234567890,"n":1}`, string(m.arguments))
	require.Equal(t, `{"k":"v"}`, string(m.meta))

	m, err = parse([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	require.NoError(t, err)
	require.Nil(t, m.id)

	m, err = parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	require.NoError(t, err)
	require.Empty(t, m.method)
}

func TestParseRefuses(t *testing.T) {
	// with is a tools/call with these parameters.
	with := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for _, c := range []struct {
		name, text string
		want       *jsonrpc.Error
		id         string
	}{
		{"nothing", ``, errNotJSON, ``},
		{"half", `{"jsonrpc":"2.0","id":1`, errNotJSON, ``},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, errNotJSON,
			``},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, errNotMessage, ``},
		{"text", `"ping"`, errNotMessage, ``},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, errNotMessage, `1`},
		{"no version", `{"id":1,"method":"ping"}`, errNotMessage, `1`},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, errDuplicate, ``},
		{"id twice, once escaped", `{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}`, errDuplicate, ``},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}}`,
			errDuplicate, ``},
		{"name twice", with(`{"name":"a","name":"b"}`), errDuplicate, `1`},
		{"arguments twice", with(`{"name":"a","arguments":{},"arguments":{}}`), errDuplicate, `1`},
		{"meta twice", with(`{"name":"a","_meta":{},"_meta":{}}`), errDuplicate, `1`},
		{"id in meta twice", with(`{"name":"a","_meta":{"toolboundary/toolCallId":"x","toolboundary/toolCallId":"y"}}`),
			errDuplicate, `1`},
		{"twice in another method", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"a":1,"a":2}}}`,
			errDuplicate, `1`},
		{"invalid UTF-8 in meta", with("{\"name\":\"a\",\"_meta\":{\"k\":\"\xff\"}}"), errNotJSON, `1`},
		{"invalid UTF-8 in the name", with("{\"name\":\"\xff\"}"), errNotJSON, `1`},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, errNotCall, `1`},
		{"params is a list", with(`["q"]`), errNotCall, `1`},
		{"no name", with(`{}`), errNotCall, `1`},
		{"name is a number", with(`{"name":7}`), errNotCall, `1`},
		{"meta is text", with(`{"name":"a","_meta":"x"}`), errNotCall, `1`},
		{"unknown method", `{"jsonrpc":"2.0","id":"x","method":"tools/explode"}`, errNoMethod, `"x"`},
		{"method in another case", `{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"a"}}`, errNoMethod,
			`1`},
		{"nested too deep for the SDK", with(`{"name":"a","arguments":` + deep + `}`), errNotMessage, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parse([]byte(c.text))
			require.Equal(t, c.want, err)
			require.Equal(t, c.id, string(m.id))
		})
	}
}

// FuzzParse tests that parse never panics, and that the SDK can read what it accepts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
			`"params":{"name":"q","arguments":{"a":1},"_meta":{"claudecode/toolUseId":"x"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `[]`, `{"id":`,
		`{"\u0069d":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse(data)
		if err != nil {
			return
		}
		msg, err := jsonrpc.DecodeMessage(data)
		require.NoError(t, err)
		if req, ok := msg.(*jsonrpc.Request); ok {
			require.Equal(t, req.Method, m.method)
		}
		cut := splice(m.arguments, argumentName)
		require.LessOrEqual(t, len(cut.rest), len(m.arguments))
	})
}
