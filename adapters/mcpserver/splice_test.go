package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSplice(t *testing.T) {
	for _, c := range []struct{ name, object, value, rest string }{
		{"absent", `{"a":1}`, ``, `{"a":1}`},
		{"only member", `{"id":"x"}`, `"x"`, `{}`},
		{"first", `{"id":"x","a":1}`, `"x"`, `{"a":1}`},
		{"last", `{"a":1,"id":"x"}`, `"x"`, `{"a":1}`},
		{"middle", `{"a":1,"id":"x","b":2}`, `"x"`, `{"a":1,"b":2}`},
		{"spaces stay", "{ \"a\" : 1 ,\n \"id\" : \"x\" , \"b\":2 }", `"x"`, "{ \"a\" : 1 , \"b\":2 }"},
		{"first with spaces", `{ "id" : "x" , "a" : 1 }`, `"x"`, `{  "a" : 1 }`},
		{"long integer and duplicates elsewhere", `{"n":12345678901234567890,"id":"x","n":1.0}`, `"x"`,
			`{"n":12345678901234567890,"n":1.0}`},
		{"not a string", `{"id":7,"a":1}`, `7`, `{"a":1}`},
		{"nested is not top-level", `{"a":{"id":"x"}}`, ``, `{"a":{"id":"x"}}`},
		{"escaped name", `{"\u0069d":"x","a":1}`, `"x"`, `{"a":1}`},
		{"other case", `{"ID":"x"}`, ``, `{"ID":"x"}`},
		{"not an object", `[{"id":"x"}]`, ``, `[{"id":"x"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := splice(json.RawMessage(c.object), "id")
			require.Equal(t, c.value, string(got.value))
			require.Equal(t, c.rest, string(got.rest))
			require.False(t, got.twice)
		})
	}
}

func TestSpliceTwiceTakesNothing(t *testing.T) {
	got := splice(json.RawMessage(`{"id":"x","a":1,"id":"y"}`), "id")
	require.True(t, got.twice)
	require.Equal(t, `{"id":"x","a":1,"id":"y"}`, string(got.rest))
}

// Splicing a member into an object and out again gives the object's own members, byte for byte.
func TestSpliceKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n\t", "  "})
		part := rapid.Custom(func(t *rapid.T) string {
			value := rapid.SampledFrom([]string{
				"1", "12345678901234567890", `"a,b}"`, `{"id":"no"}`, "[1, 2]", "null", `"\u0041"`,
			}).Draw(t, "value")
			name := rapid.SampledFrom([]string{`"a"`, `"b"`, `"a b"`, `"\""`}).Draw(t, "name")
			return space.Draw(t, "s1") + name + space.Draw(t, "s2") + ":" + space.Draw(t, "s3") + value
		})
		parts := rapid.SliceOfN(part, 0, 5).Draw(t, "parts")
		at := rapid.IntRange(0, len(parts)).Draw(t, "at")
		with, plain := "{", "{"
		for i := 0; i <= len(parts); i++ {
			if i == at {
				with = comma(with) + `"id" : "x"`
			}
			if i < len(parts) {
				with, plain = comma(with)+parts[i], comma(plain)+parts[i]
			}
		}
		got := splice(json.RawMessage(with+"}"), "id")
		require.Equal(t, `"x"`, string(got.value))
		require.Equal(t, plain+"}", string(got.rest))
	})
}

func comma(s string) string {
	if s == "{" {
		return s
	}
	return s + ","
}
