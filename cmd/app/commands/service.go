package commands

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolboundary/toolboundary/adapters/apiclient"
	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/settings"
	"github.com/toolboundary/toolboundary/config"
)

// Service holds the commands that ask a running service. They need no configuration.
type Service struct{ Loader Loader }

// Overview returns the service's answer about a run.
func (c Service) Overview(ctx context.Context, at cli.Service, id string) (json.RawMessage, error) {
	client, err := c.client(at)
	if err != nil {
		return nil, err
	}
	return client.Run(ctx, id)
}

// Cancel cancels a run and returns the service's answer.
func (c Service) Cancel(ctx context.Context, at cli.Service, id string) (json.RawMessage, error) {
	client, err := c.client(at)
	if err != nil {
		return nil, err
	}
	return client.Cancel(ctx, id)
}

// Record returns the canonical record of a call.
func (c Service) Record(ctx context.Context, at cli.Service, runID, toolCallID string) (json.RawMessage, error) {
	client, err := c.client(at)
	if err != nil {
		return nil, err
	}
	return client.Record(ctx, runID, toolCallID)
}

// client returns a client of the service that the arguments name; what is wrong with them is a
// usage error.
func (c Service) client(at cli.Service) (*apiclient.Client, error) {
	key, err := c.harnessKey(at)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	roots, err := settings.CertPool("--ca-file", at.CAFile)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	client, err := apiclient.New(apiclient.Options{URL: at.URL, Key: key.Reveal(), RootCAs: roots})
	if err != nil {
		return nil, cli.UsageError{Err: fmt.Errorf("--server: %w", err)}
	}
	return client, nil
}

func (c Service) harnessKey(at cli.Service) (config.Secret, error) {
	if at.KeyFile != "" {
		return config.SecretFromFile("--key-file", at.KeyFile)
	}
	return config.SecretFromEnv(c.Loader.Env, "--key-env", at.KeyEnv)
}
