package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

func TestSuggestFindsTypingErrorsOnly(t *testing.T) {
	known := []string{"listen", "admin_listen", "tls", "shutdown_grace", "max_concurrent"}
	rows := map[string]string{
		"listn": "listen", "Listen": "listen", "lisetn": "listen", "adminlisten": "admin_listen",
		"max-concurrent": "max_concurrent",
		"tsl":            "tls", "tl": "", "xtls": "tls", // one error in three letters
		"shutdown": "shutdown_grace", "shut": "shutdown_grace", "shu": "", // the only one that begins with four letters
		"colour": "", "": "", "x": "",
		"max_concurrent_" + strings.Repeat("x", 49): "",
		strings.Repeat("listen", 100):               "",
	}
	const list = "The keys are listen, admin_listen, tls, shutdown_grace, max_concurrent."
	for word, near := range rows {
		want := list
		if near != "" {
			want = "Did you mean " + near + "? " + list
		}
		require.Equal(t, want, strictyaml.Suggest(word, known, "The keys are "), word)
	}
}

func TestSuggestBoundsTheWord(t *testing.T) {
	known := []string{strings.Repeat("a", 70)}
	require.Contains(t, strictyaml.Suggest(strings.Repeat("a", 64), known, ""), "Did you mean")
	require.NotContains(t, strictyaml.Suggest(strings.Repeat("a", 65), known, ""), "Did you mean")
}

func TestSuggestNeedsOneBeginning(t *testing.T) {
	require.Equal(t, "max_rows, max_cell.", strictyaml.Suggest("max_", []string{"max_rows", "max_cell"}, ""))
}
