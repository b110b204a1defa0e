package bootstrap

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolboundary/toolboundary/config"
)

// newLogger writes JSON lines. It does not sample: one line per invocation means each one. At
// debug level it also writes causes, which may hold words of servers and drivers.
func newLogger(w io.Writer, c config.Config) *zap.Logger {
	level := zap.InfoLevel
	if c.Server.LogLevel == config.LogDebug {
		level = zap.DebugLevel
	}
	e := zap.NewProductionEncoderConfig()
	e.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	e.TimeKey = "time"
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(e), zapcore.Lock(zapcore.AddSync(w)), level))
}
