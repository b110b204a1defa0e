package logsearch

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNeedles(t *testing.T) {
	for pattern, want := range map[string][]string{
		"ERROR": {"error"}, "(?i)bearer [a-z]+": {"bearer "}, "(?i)password=(\\S+)": {"word="}, "a|bc": nil, "ab|cd": {"ab", "cd"}, "x*": nil, "(?:ab)?c": nil,
		"(ab)+.*longer": {"longer"}, "(?:abc){2,3}": {"abc"}, "(?:abc){0,3}": nil, "é": nil, "(?i)skis": nil, "ski": {"ski"}, "": nil, "^ok$": {"ok"}, "ab|cd|ef|gh|ij|kl|mn": nil,
	} {
		m, err := newMatcher(pattern)
		require.NoError(t, err)
		require.Equal(t, want, m.needles, pattern)
	}
}

// TestS40_NeedlesOverlookNothing: a line that matches is never held impossible, or a mask would
// be left out.
func TestS40_NeedlesOverlookNothing(t *testing.T) {
	for _, c := range [][2]string{{"(?i)ask", "a\u017f\u212a"}, {"(?i)task x", "TA\u017fK x"}, {"(?i)bearer", "BEARER"}, {"Secret", "Secret"}} {
		m, err := newMatcher(c[0])
		require.NoError(t, err)
		require.True(t, m.MatchString(c[1]) && m.possible(lower(nil, []byte(c[1]))), "%q", c)
	}
	letters := rapid.SampledFrom([]string{"k", "K", "\u212a", "s", "S", "\u017f", "a", "A", "b", "é", "É", "."})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, l := range rapid.SliceOfN(letters, 0, 8).Draw(t, "text") {
			text += l
		}
		pattern := rapid.StringMatching(`(\(\?i\))?([ksabAB\x{212a}é]{1,3}|\((a|ks)\|(b|sk)\)|(ab)?|[as]\+|(?:ak){1,2}){1,3}`).Draw(t, "pattern")
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		m, err := newMatcher(pattern)
		require.NoError(t, err)
		if re.MatchString(text) {
			require.True(t, m.possible(lower(nil, []byte(text))), "%q %q %q", pattern, text, m.needles)
		}
	})
}
