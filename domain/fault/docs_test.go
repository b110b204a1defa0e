package fault_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
)

var update = flag.Bool("update", false, "rewrite the table of docs/errors.md")

const doc = "../../docs/errors.md"

// TestDocsListEveryCode keeps the table of docs/errors.md equal to the code.
func TestDocsListEveryCode(t *testing.T) {
	codes := fault.Codes()
	slices.SortFunc(codes, func(a, b fault.Code) int { return cmp.Compare(a, b) })
	var table strings.Builder
	table.WriteString("| code | what happened and what to do | the same again? |\n|---|---|---|\n")
	for _, c := range codes {
		again := "no"
		if c.Again() {
			again = "yes, with a new id"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", c, c.Sentence(), again)
	}
	text, err := os.ReadFile(doc)
	require.NoError(t, err)
	const begin, end = "<!-- codes -->\n", "<!-- /codes -->"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	old, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(doc, []byte(before+begin+table.String()+end+after), 0o644))
		return
	}
	require.Equal(t, table.String(), old, "run: go test ./domain/fault -update")
}

func TestS23_ErrorTextIsCodeAndSentence(t *testing.T) {
	cause := errors.New("Access denied for user 'canary'@'10.0.0.1'")
	err := fault.Wrap(fault.DataSourceUnavailable, cause)
	require.Equal(t, "DATA_SOURCE_UNAVAILABLE: "+fault.DataSourceUnavailable.Sentence(), err.Error())
	require.ErrorIs(t, err, cause)
	require.NotContains(t, fmt.Sprintf("%v %s %q", err, err, err), "canary")
}

func TestCodeOfClassifiesEverything(t *testing.T) {
	require.Equal(t, fault.Code(""), fault.CodeOf(nil))
	require.Equal(t, fault.Internal, fault.CodeOf(errors.New("x")))
	require.Equal(t, fault.ExecutionTimeout, fault.CodeOf(fmt.Errorf("w: %w", context.DeadlineExceeded)))
	require.Equal(t, fault.ExecutionCancelled, fault.CodeOf(context.Canceled))
	require.Equal(t, fault.QueryRejected, fault.CodeOf(fmt.Errorf("w: %w", fault.New(fault.QueryRejected))))
	require.True(t, errors.Is(fault.Because(fault.RunExists, "a", "b"), fault.New(fault.RunExists)))
	for _, c := range fault.Codes() {
		require.True(t, c.Known())
		require.NotEmpty(t, c.Sentence())
	}
	require.False(t, fault.Code("NEW").Known())
	require.Equal(t, fault.Internal.Sentence(), fault.Code("NEW").Sentence())
}
