package config

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.yaml.in/yaml/v4"
)

const canary = "canary-7f3a"

// hidden keeps a secret where no method of it can be called.
type hidden struct{ inner Secret }

func TestSecretMasksItselfInEveryFormat(t *testing.T) {
	s := NewSecret(canary, "environment variable X")
	cfg := Config{
		Auth: Auth{HarnessKeys: []HarnessKey{{Name: "a", Key: s}}}, DataSources: Sources{"a": &MySQL{Password: s}},
	}
	values := map[string]any{
		"value": s, "pointer": &s, "struct": struct{ S Secret }{s}, "list": []Secret{s},
		"map":    map[string]Secret{"a": s},
		"hidden": hidden{s}, "hidden pointer": &hidden{s}, "config": cfg, "config pointer": &cfg,
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{
				"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T", "%w", "% x", "%20s", "%.3s",
			} {
				clean(t, verb, fmt.Sprintf(verb, v))
			}
			clean(t, "print", fmt.Sprint(v))
			clean(t, "error", fmt.Errorf("failed with %v", v).Error())
			// A failed assertion dumps its values by reflection, unexported fields included.
			var dump failure
			require.False(t, assert.Equal(&dump, v, "something else"))
			require.NotEmpty(t, dump.text)
			clean(t, "assertion", dump.text)
			asJSON, err := json.Marshal(v)
			require.NoError(t, err)
			clean(t, "json", string(asJSON))
			clean(t, "slog text", slogged(t, v, func(b *bytes.Buffer) slog.Handler {
				return slog.NewTextHandler(b, nil)
			}))
			clean(t, "slog json", slogged(t, v, func(b *bytes.Buffer) slog.Handler {
				return slog.NewJSONHandler(b, nil)
			}))
			clean(t, "zap json", zapped(zapcore.NewJSONEncoder, v))
			clean(t, "zap console", zapped(zapcore.NewConsoleEncoder, v))
			if name != "hidden" && name != "hidden pointer" {
				asYAML, err := yaml.Marshal(v)
				require.NoError(t, err)
				clean(t, "yaml", string(asYAML))
				require.Contains(t, string(asYAML), masked)
				require.Contains(t, string(asJSON), masked)
			}
		})
	}
	asXML, err := xml.Marshal(HarnessKey{Name: "a", Key: s})
	require.NoError(t, err)
	clean(t, "xml", string(asXML))
	require.Equal(t, masked, s.String())
	require.Equal(t, masked, fmt.Sprintf("%#v", s))
	require.Equal(t, canary, s.Reveal())
}

// failure keeps what a failed assertion prints.
type failure struct{ text string }

func (f *failure) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

func clean(t *testing.T, how, text string) {
	t.Helper()
	for _, form := range []string{
		canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("% x", canary),
		fmt.Sprintf("%d", []byte(canary)), "canary",
	} {
		require.NotContains(t, text, form, how)
	}
}

func slogged(t *testing.T, v any, handler func(*bytes.Buffer) slog.Handler) string {
	t.Helper()
	var b bytes.Buffer
	slog.New(handler(&b)).Info("m", "v", v, slog.Group("g", "v", v))
	require.NotEmpty(t, b.String())
	return b.String()
}

func zapped(encoder func(zapcore.EncoderConfig) zapcore.Encoder, v any) string {
	var b bytes.Buffer
	log := zap.New(zapcore.NewCore(encoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&b), zapcore.DebugLevel))
	log.Info("m", zap.Any("any", v), zap.Reflect("reflect", v))
	log.Sugar().Infow("m", "v", v)
	log.Sugar().Infof("%v %+v %#v", v, v, v)
	return b.String()
}

func TestSecretWithoutAValue(t *testing.T) {
	var s Secret
	require.False(t, s.IsSet())
	require.Empty(t, s.Reveal())
	require.Equal(t, masked, s.String())
	require.True(t, s.equal(Secret{}))
	require.False(t, s.equal(NewSecret("", "")), "an empty secret is not an absent one")
	require.True(t, NewSecret("a", "x").equal(NewSecret("a", "y")))
	require.False(t, NewSecret("a", "x").equal(NewSecret("b", "x")))
}
