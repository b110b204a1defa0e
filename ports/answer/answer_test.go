package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/answer"
)

func frame(limit int) answer.Frame {
	return answer.Frame{Scope: json.RawMessage(`{"q":1}`), Items: "rows", Note: "data", Limit: limits.AgentBytes(limit)}
}

const (
	head = `{"scope":{"q":1},"columns":[],"rows":[`
	tail = `,"note":"data"}`
)

var columns = answer.Member{Name: "columns", Value: json.RawMessage(`[]`)}

func TestS37_S38_TheFrame(t *testing.T) {
	for name, c := range map[string]struct {
		make func() *answer.List
		want string
	}{
		"empty": {func() *answer.List { return answer.New(frame(1000), columns) },
			head + `],"returned":0,"truncated":false` + tail},
		"members without a value are left out": {func() *answer.List {
			f := frame(1000)
			f.Scope = nil
			return answer.New(f, answer.Member{Name: "x"}, columns)
		}, `{"columns":[],"rows":[],"returned":0,"truncated":false` + tail},
		"two items": {func() *answer.List {
			l := answer.New(frame(1000), columns)
			l.Add([]byte(`[1]`), false)
			l.Add([]byte(`[2]`), false)
			return l
		}, head + `[1],[2]],"returned":2,"truncated":false` + tail},
		"incomplete": {func() *answer.List {
			f := frame(1000)
			f.Incomplete = true
			return answer.New(f, columns)
		}, head + `],"returned":0,"incomplete":true,"truncated":false` + tail},
		"a cut value": {func() *answer.List {
			l := answer.New(frame(1000), columns)
			l.Add([]byte(`["…"]`), true)
			l.Add([]byte(`[2]`), false)
			return l
		}, head + `["…"],[2]],"returned":2,"truncated":true,"truncated_by":["cells"]` + tail},
		"every cause, in order": {func() *answer.List {
			l := answer.New(frame(1000), columns)
			for _, c := range []answer.Cause{answer.Bytes, answer.Counts, answer.Cells, answer.Points, answer.Items,
				answer.Items} {
				l.LeftOut(c)
			}
			return l
		}, head + `],"returned":0,"truncated":true,"truncated_by":["rows","points","cells","counts","bytes"]` + tail},
		"a value that is cut in an item that is left out": {func() *answer.List {
			l := answer.New(frame(120), columns)
			l.Add([]byte(`[1]`), false)
			l.Add([]byte(`["`+strings.Repeat("x", 30)+`"]`), true)
			return l
		}, head + `[1]],"returned":1,"truncated":true,"truncated_by":["bytes"]` + tail},
	} {
		t.Run(name, func(t *testing.T) {
			got, n, err := c.make().Close()
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
			require.Contains(t, c.want, `"returned":`+string('0'+rune(n)))
		})
	}
}

// TestS22_S38_ItemsThatFit compares with the slowest way to find what fits: to write each answer.
func TestS22_S38_ItemsThatFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 20), 0, 15).Draw(t, "sizes")
		cut := rapid.SliceOfN(rapid.Bool(), len(sizes), len(sizes)).Draw(t, "cut")
		more := rapid.Bool().Draw(t, "more")
		write := func(n, limit int) (json.RawMessage, int, error) {
			l := answer.New(frame(limit), columns)
			if more {
				l.LeftOut(answer.Items)
			}
			for i, size := range sizes[:n] {
				l.Add([]byte(strings.Repeat("7", size)), cut[i])
			}
			if n < len(sizes) {
				l.LeftOut(answer.Bytes)
			}
			return l.Close()
		}
		limit := rapid.IntRange(1, 400).Draw(t, "limit")
		got, n, err := write(len(sizes), limit)
		for want := len(sizes); want >= 0; want-- {
			whole, _, _ := write(want, 1<<20)
			if len(whole) <= limit {
				require.NoError(t, err)
				require.Equal(t, want, n)
				require.Equal(t, string(whole), string(got))
				require.True(t, json.Valid(got))
				return
			}
		}
		require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
		require.Nil(t, got)
	})
}

func TestRoomIsExact(t *testing.T) {
	for _, n := range []int{0, 1, 2, 11} {
		for _, also := range [][]answer.Cause{nil, {answer.Points}, {answer.Points, answer.Cells}} {
			room := answer.New(frame(300), columns).Room(n, also...)
			l := answer.New(frame(300), columns)
			for _, c := range also {
				l.LeftOut(c)
			}
			for i := range n {
				size := 1
				if i == 0 {
					size = room - (n - 1)
				}
				l.Add([]byte(strings.Repeat("7", size)), false)
			}
			require.False(t, l.Full())
			got, shown, err := l.Close()
			require.NoError(t, err)
			require.Equal(t, n, shown)
			if n > 0 {
				require.Len(t, got, 300)
			} else {
				require.Len(t, got, 300-room)
			}
		}
	}
	require.Negative(t, answer.New(frame(20), columns).Room(1))
}

func TestFullSaysThatNoMoreCanBeShown(t *testing.T) {
	l := answer.New(frame(len(head)+3), columns)
	l.Add([]byte(`123`), false)
	require.False(t, l.Full())
	l.Add([]byte(`4`), false)
	require.True(t, l.Full())
	require.Equal(t, 2, l.Len())
}

func TestItemsAreCopied(t *testing.T) {
	l := answer.New(frame(1000), columns)
	item := []byte(`1`)
	l.Add(item, false)
	item[0] = 'x'
	got, _, err := l.Close()
	require.NoError(t, err)
	require.Contains(t, string(got), `"rows":[1]`)
}
