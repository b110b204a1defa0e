package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTLSModes(t *testing.T) {
	rows := map[string]TLSMode{
		"true": TLSVerify, "verify": TLSVerify, "required": TLSRequired, "false": TLSDisabled, "disabled": TLSDisabled,
	}
	for text, want := range rows {
		t.Run(text, func(t *testing.T) {
			cfg, err := Parse([]byte(strings.Replace(valid, "max_rows: 200", "tls: "+text, 1)), environment)
			require.NoError(t, err)
			require.Equal(t, want, SourcesOf[*MySQL](cfg.DataSources)["shop"].TLS)
		})
	}
}
