package strictyaml_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

func TestByteSize(t *testing.T) {
	rows := map[string]strictyaml.ByteSize{
		"0": 0, "1": 1, "1B": 1, "64KiB": 64 << 10, "64 KiB": 64 << 10, "4MiB": 4 << 20, "1GiB": 1 << 30,
		"2TiB": 2 << 40, "1500": 1500, "8388607TiB": 8388607 << 40, "9223372036854775807": 1<<63 - 1,
	}
	for text, want := range rows {
		var got strictyaml.ByteSize
		require.NoError(t, got.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, got, text)
		var again strictyaml.ByteSize
		require.NoError(t, again.UnmarshalText([]byte(got.String())))
		require.Equal(t, got, again)
	}
	for _, text := range []string{
		"", "B", "-1", "-1KiB", "1.5MiB", "1kb", "1K", "1KB", "1kib", "0x10", "010", "1_000", "9223372036854775808",
		"8388608TiB", "1  KiB", " 1", "1 ", "+1", "١",
	} {
		var got strictyaml.ByteSize
		require.EqualError(t, got.UnmarshalText([]byte(text)), "not a size in bytes", text)
		require.Zero(t, got, text)
	}
	require.Equal(t, "64KiB", strictyaml.ByteSize(64<<10).String())
	require.Equal(t, "1000B", strictyaml.ByteSize(1000).String())
	require.Equal(t, "0B", strictyaml.ByteSize(0).String())
}
