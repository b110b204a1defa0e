package limits_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

func TestS22_ExactlyAtTheLimitPasses(t *testing.T) {
	require.NoError(t, limits.Check(3, limits.RequestBytes(3), fault.RequestTooLarge))
	require.Equal(t, fault.RequestTooLarge,
		fault.CodeOf(limits.Check(4, limits.RequestBytes(3), fault.RequestTooLarge)))
}

func TestS20_BufferRefusesTheFirstBytePastItsLimit(t *testing.T) {
	b := limits.Buffer{Limit: 3}
	n, err := b.Write([]byte("ab"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	n, err = b.Write([]byte("cd"))
	require.Equal(t, fault.ResultTooLarge, fault.CodeOf(err))
	require.Zero(t, n)
	_, err = b.Write([]byte("c"))
	require.NoError(t, err)
	require.Equal(t, "abc", string(b.Bytes()))
	var none limits.Buffer
	_, err = none.Write([]byte("a"))
	require.Error(t, err)
}
