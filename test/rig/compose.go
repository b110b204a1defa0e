package rig

import (
	"bytes"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/ports"
	"github.com/toolboundary/toolboundary/ports/toolset"
	"github.com/toolboundary/toolboundary/test/contract/kit"
)

// HarnessKey is the key of the one harness.
const HarnessKey = "harness-key-of-the-test-rig"

// Harness is the caller that the key authenticates.
var Harness = application.Caller{Harness: "diagnosis"}

// Composed is a service with the parts that it was made of here.
type Composed struct {
	*application.Service
	Catalogue *application.Catalogue
	Tokens    *agenttoken.Tokens
}

// Compose makes a service of the tools on the store. The options' harness key is HarnessKey's.
// Nothing watches for ended runs until the caller does.
func Compose(
	t kit.T, store ports.Store, clock ports.Clock, log *zap.Logger, opt application.Options, tools ...toolset.Entry,
) *Composed {
	t.Helper()
	secret := bytes.Repeat([]byte("k"), agenttoken.MinSecretBytes)
	tokens, err := agenttoken.New(clock, agenttoken.Key{ID: "k1", Secret: secret})
	require.NoError(t, err)
	catalogue, err := application.NewCatalogue(tools...)
	require.NoError(t, err)
	opt.HarnessKeys = []application.HarnessKey{{Name: Harness.Harness, Key: HarnessKey}}
	return &Composed{application.New(catalogue, store, tokens, clock, log, opt), catalogue, tokens}
}
