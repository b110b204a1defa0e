package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/tool"
)

func TestBoundsOr(t *testing.T) {
	other := tool.Bounds{Rows: 1, CellBytes: 2, AgentResult: 3}
	require.Equal(t, other, tool.Bounds{}.Or(other))
	require.Equal(t, other, tool.Bounds{Rows: -1, CellBytes: -1, AgentResult: -1}.Or(other))
	require.Equal(t, tool.Bounds{Rows: 7, CellBytes: 2, AgentResult: 9}, tool.Bounds{Rows: 7, AgentResult: 9}.Or(other))
}

func TestAScopeHoldsWhatWasGranted(t *testing.T) {
	granted := tool.Scope{DataSources: []string{"shop", "crm"}}
	require.NoError(t, granted.Check("crm"))
	for name, scope := range map[string]tool.Scope{"another source": granted, "nothing": {}} {
		t.Run(name, func(t *testing.T) {
			err := scope.Check("billing")
			require.Equal(t, fault.New(fault.DataSourceUnknown), fault.Of(err), "not granted and unknown answer alike")
		})
	}
}
