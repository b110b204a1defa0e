package rowset_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

const statement = "SELECT id, mail FROM customers WHERE id < ? LIMIT 3"

func write(t *testing.T, rows ...string) json.RawMessage {
	t.Helper()
	w, err := rowset.NewWriter(1<<20, rowset.Head{
		Asked: &rowset.Asked{DataSource: "shop", Statement: statement, Params: []json.RawMessage{[]byte("9")}},
		Columns: []rowset.Column{
			{Name: "id", Type: "BIGINT", Sources: []string{"shop.customers.id"}}, {Name: "mail", Sensitive: true},
		},
	})
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, w.Row([]byte(r)))
	}
	require.Equal(t, len(rows), w.Rows())
	raw, err := w.Close(true)
	require.NoError(t, err)
	return raw
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	raw := write(t, `[1,"a"]`, `["9007199254740993",{"base64":"AA=="}]`)
	require.True(t, json.Valid(raw))
	r, err := rowset.NewReader(raw)
	require.NoError(t, err)
	require.Equal(t, "shop.customers.id", r.Columns[0].Sources[0])
	require.True(t, r.Columns[1].Sensitive)
	asked, err := r.Asked()
	require.NoError(t, err)
	require.Equal(t, &rowset.Asked{DataSource: "shop", Statement: statement, Params: []json.RawMessage{[]byte("9")}},
		asked)
	require.Contains(t, string(raw), "id < ?", "it is kept readable")
	for _, want := range []string{`1`, `"9007199254740993"`} {
		cells, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, want, string(cells[0]))
	}
	for range 2 {
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
	}
	require.True(t, r.More())
}

func TestEmptyRowSet(t *testing.T) {
	r, err := rowset.NewReader(write(t))
	require.NoError(t, err)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
}

func TestRowSetWithoutAsked(t *testing.T) {
	for _, raw := range []string{
		`{"columns":[],"rows":[],"more":false}`, `{"asked":null,"columns":[],"rows":[],"more":false}`,
		`{"later":[{"x":"]"}],"columns":[],"rows":[],"later":1,"more":false,"latest":{}}`, // members of a later version
	} {
		r, err := rowset.NewReader(json.RawMessage(raw))
		require.NoError(t, err, raw)
		asked, err := r.Asked()
		require.NoError(t, err, raw)
		require.Nil(t, asked, raw)
		_, err = r.Next()
		require.Equal(t, io.EOF, err, raw)
	}
	r, err := rowset.NewReader(json.RawMessage(`{"asked":7,"columns":[],"rows":[],"more":false}`))
	require.NoError(t, err)
	_, err = r.Asked()
	require.ErrorIs(t, err, rowset.ErrFormat)
}

func TestWhatIsNotARowSet(t *testing.T) {
	for _, raw := range []string{
		``, `null`, `[]`, `{}`, `{"rows":[]}`, `{"columns":[],"rows":{}}`, `{"columns":null,"rows":[]}`,
		`{"columns":[] "rows":[]}`, `{columns:[],"rows":[]}`,
	} {
		_, err := rowset.NewReader(json.RawMessage(raw))
		require.ErrorIs(t, err, rowset.ErrFormat, raw)
	}
	for _, rest := range []string{`[[1,2]],"more":false}`, `[1],"more":false}`, `[`, `[]}`, `[],"more":1}`,
		`[],"more"}`, `[],more:true}`} {
		raw := `{"columns":[{"name":"a"}],"rows":` + rest
		r, err := rowset.NewReader(json.RawMessage(raw))
		require.NoError(t, err, raw)
		_, err = r.Next()
		require.ErrorIs(t, err, rowset.ErrFormat, raw)
	}
}

func TestS20_WriterStopsAtItsLimit(t *testing.T) {
	columns := []rowset.Column{{Name: "a"}}
	whole := len(`{"columns":[{"name":"a"}],"rows":[[1],[2]],"more":false}`)
	for limit := range whole + 1 {
		out, err := twoRows(limit, columns)
		if limit < whole {
			require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err), "limit %d", limit)
		} else {
			require.NoError(t, err)
			require.Len(t, out, whole)
		}
	}
}

func twoRows(limit int, columns []rowset.Column) (json.RawMessage, error) {
	w, err := rowset.NewWriter(limits.RawBytes(limit), rowset.Head{Columns: columns})
	if err != nil {
		return nil, err
	}
	for _, row := range []string{`[1]`, `[2]`} {
		if err := w.Row([]byte(row)); err != nil {
			return nil, err
		}
	}
	return w.Close(false)
}

// TestReaderFindsEveryValue compares the reader's scan with the standard library's decoder.
func TestReaderFindsEveryValue(t *testing.T) {
	value := rapid.SampledFrom([]string{
		`1`, `-1.5e3`, `null`, `true`, `""`, `"a\\"`, `"\"]"`, `"é,}"`, `{"base64":"AA=="}`, `[1,[2,"]"]]`, `{}`, `[]`,
		`{"a":{"b":[1]}}`,
	})
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 4).Draw(t, "width")
		columns := make([]rowset.Column, width)
		var asked *rowset.Asked
		if rapid.Bool().Draw(t, "says what was asked") {
			asked = &rowset.Asked{Statement: rapid.SampledFrom([]string{"", `"rows":[`, "}"}).Draw(t, "statement")}
		}
		w, err := rowset.NewWriter(1<<20, rowset.Head{Asked: asked, Columns: columns})
		require.NoError(t, err)
		var want [][]string
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			cells := rapid.SliceOfN(value, width, width).Draw(t, "cells")
			blank := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "blank")
			require.NoError(t, w.Row([]byte("["+blank+strings.Join(cells, blank+","+blank)+blank+"]")))
			want = append(want, cells)
		}
		raw, err := w.Close(rapid.Bool().Draw(t, "more"))
		require.NoError(t, err)
		require.True(t, json.Valid(raw))
		r, err := rowset.NewReader(raw)
		require.NoError(t, err)
		for _, cells := range want {
			got, err := r.Next()
			require.NoError(t, err)
			for i := range cells {
				require.Equal(t, cells[i], string(got[i]))
			}
		}
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
		for cut := range raw {
			if r, err := rowset.NewReader(raw[:cut]); err == nil {
				for err == nil {
					_, err = r.Next()
				}
				require.ErrorIs(t, err, rowset.ErrFormat, "cut at %d", cut)
			}
		}
	})
}

// What follows the rows is found without reading them, however it is spaced, and where cells hold the same bytes.
func TestTheEndIsReadFirst(t *testing.T) {
	w, err := rowset.NewWriter(1<<10, rowset.Head{Columns: []rowset.Column{{Name: "a"}, {Name: "b"}}})
	require.NoError(t, err)
	require.NoError(t, w.Row([]byte(`["],\"more\":true}", {"x":[1],"more":true}]`)))
	want := rowset.End{Limited: true, Warnings: rowset.AddWarning(rowset.AddWarning(rowset.AddWarning(nil, "one"), "two"), "one")}
	require.Equal(t, []rowset.Warning{{Text: "one", Count: 2}, {Text: "two", Count: 1}}, want.Warnings)
	raw, err := w.Finish(want)
	require.NoError(t, err)
	spaced := strings.NewReplacer(`],"more"`, `] , "more"`, `"warnings":`, ` "warnings" : `).Replace(string(raw))
	require.NotEqual(t, spaced, string(raw))
	for _, text := range []string{string(raw), spaced} {
		r, err := rowset.NewReader(json.RawMessage(text))
		require.NoError(t, err)
		for range 2 {
			end, err := r.End()
			require.NoError(t, err)
			require.Equal(t, want, end)
		}
		cells, err := r.Next()
		require.NoError(t, err, "the rows are still to be read")
		require.Len(t, cells, 2)
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
		require.False(t, r.More())
	}
	for _, broken := range []string{`{"columns":[],"rows":[],"more":1}`, `{"columns":[],"rows":[],"more":false,"warnings":1}`, `{"columns":[],"rows":[`} {
		r, err := rowset.NewReader(json.RawMessage(broken))
		require.NoError(t, err)
		_, err = r.End()
		require.ErrorIs(t, err, rowset.ErrFormat)
	}
}

// Every cell of a sensitive column takes the same bytes, and reads as what it is.
func TestS40_SensitiveCellsAreOfOneSize(t *testing.T) {
	w, err := rowset.NewWriter(1<<20, rowset.Head{Columns: []rowset.Column{{Name: "a", Sensitive: true}, {Name: "b"}}})
	require.NoError(t, err)
	values := []string{`null`, `""`, `"a@b.example"`, `123456`, `{"base64":"AA=="}`, `"` + strings.Repeat("x", rowset.SensitiveBytes-2) + `"`}
	for _, value := range values {
		row, err := rowset.PadSensitive([]byte("["+value), 1)
		require.NoError(t, err)
		require.Len(t, row, 1+rowset.SensitiveBytes)
		require.NoError(t, w.Row(append(row, ",1]"...)))
	}
	_, err = rowset.PadSensitive([]byte(`"`+strings.Repeat("x", rowset.SensitiveBytes-1)+`"`), 0)
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	raw, err := w.Close(false)
	require.NoError(t, err)
	require.True(t, json.Valid(raw))
	r, err := rowset.NewReader(raw)
	require.NoError(t, err)
	for _, value := range values {
		cells, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, []string{value, "1"}, []string{string(cells[0]), string(cells[1])})
	}
}
