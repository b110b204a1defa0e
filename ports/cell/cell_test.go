package cell_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/ports/cell"
)

func TestS38_CutsSayHowLongTheWholeWas(t *testing.T) {
	out, cut := cell.Append([]byte("x"), strings.Repeat("漢", 20), 40)
	require.True(t, cut)
	require.Equal(t, `x"漢漢漢漢漢漢…[cut, 60 bytes]"`, string(out))
	out, cut = cell.Append(nil, "漢", 5)
	require.False(t, cut)
	require.Equal(t, `"漢"`, string(out))
	require.Equal(t, `"…"`, string(cell.AppendCut(nil, "long text", 5)))
	require.Equal(t, `""`, string(cell.AppendCut(nil, "long text", 4)))
}

func TestS38_AlwaysJSONWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\\x00-\x1f<>&\x{2028}😀a]*`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		most := rapid.IntRange(2, 60).Draw(t, "most")
		out, cut := cell.Append(nil, text, most)
		require.LessOrEqual(t, len(out), most)
		require.True(t, utf8.Valid(out))
		var back string
		require.NoError(t, json.Unmarshal(out, &back))
		if !cut && utf8.ValidString(text) {
			require.Equal(t, text, back)
		}
	})
}

func TestMarshalKeepsWhatAgentsRead(t *testing.T) {
	out, err := cell.Marshal(map[string]any{"b": "x > 1 && <y>", "a": 1})
	require.NoError(t, err)
	require.Equal(t, `{"a":1,"b":"x > 1 && <y>"}`, string(out))
	_, err = cell.Marshal(func() {})
	require.Error(t, err)
}
