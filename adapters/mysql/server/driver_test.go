package server

import (
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/require"
)

type otherRows struct {
	driver.Rows
	rs struct{ columns []struct{ flags string } }
}

// What the driver keeps elsewhere is not made up.
func TestColumnFlagsOfAnotherDriver(t *testing.T) {
	require.Nil(t, ColumnFlags(nil))
	require.Nil(t, ColumnFlags(struct{ driver.Rows }{}))
	require.Nil(t, ColumnFlags(&struct{ driver.Rows }{}))
	other := &otherRows{}
	require.Empty(t, ColumnFlags(other))
	other.rs.columns = make([]struct{ flags string }, 1)
	require.Nil(t, ColumnFlags(other))
}
